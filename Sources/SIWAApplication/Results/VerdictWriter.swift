internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// Writes the verification results of tokens.
///
/// Most checks have the same result for most tokens, so their texts are cached.
package struct VerdictWriter: Sendable {
    /// The latest texts of all checks of valid tokens.
    private var lists = CheckTexts(most: 32)
    /// For each position in the list of checks, the latest texts of one check.
    private var places: [CheckTexts] = []

    /// A writer that has written nothing.
    package init() {}

    /// What `siwa verify` prints, on one line.
    package mutating func bytes(of verification: IdentityTokenVerification) -> [UInt8] {
        var line = JSONLine()
        add(verification, to: &line)
        return line.finishedWithoutLineEnd()
    }

    /// Adds the members that `siwa verify` prints.
    package mutating func add(
        _ verification: IdentityTokenVerification, to line: inout JSONLine
    ) {
        line.add("valid", .boolean(verification.isValid))
        line.add("checks") { output in
            output.append(UInt8(ascii: "["))
            appendChecks(of: verification, to: &output)
            output.append(UInt8(ascii: "]"))
        }
        if let token = verification.token {
            line.add("header", headerOf: token)
            line.add("claims", normalizedClaimsOf: token)
            if let kind = token.emailKind { line.add("email_kind", kind.rawValue) }
        }
    }

    private mutating func appendChecks(
        of verification: IdentityTokenVerification, to output: inout [UInt8]
    ) {
        let checks = verification.checks
        if verification.isValid, let known = lists.text(of: checks.span) {
            return known.append(checks.span, to: &output)
        }
        var text = CheckText()
        for index in checks.indices {
            if index == places.count { places.append(CheckTexts(most: 8)) }
            let check = checks[index...index]
            text.add(
                places[index].text(of: check.span)
                    ?? places[index].remember(check, CheckText(checks[index])))
        }
        text.append(checks.span, to: &output)
        // What a failed check says is seldom the same twice.
        if verification.isValid { _ = lists.remember(checks[...], text) }
    }
}

/// The text of consecutive checks, without the moments at the end of their details.
private struct CheckText: Sendable {
    private var text: [UInt8] = []
    private var count = 0
    /// Where moments belong, and of which check.
    private var gaps: [(place: Int, check: Int)] = []

    init() {}

    init(_ check: TokenCheck) {
        (text, count) = (check.json.bytes, 1)
        guard let moment = check.moment else { return }
        // The detail is the last member, and ends with the moment.
        let end = text.count - 2
        let start = end - moment.rfc3339.utf8.count
        text.removeSubrange(start..<end)
        gaps = [(start, 0)]
    }

    mutating func add(_ other: Self) {
        if count > 0 { text.append(UInt8(ascii: ",")) }
        for gap in other.gaps { gaps.append((text.count + gap.place, count + gap.check)) }
        text += other.text
        count += other.count
    }

    /// Appends the text with the moments of `checks`.
    func append(_ checks: Span<TokenCheck>, to output: inout [UInt8]) {
        let text = text.span
        let capacity = text.count + gaps.count * NumericDate.mostCharacters
        output.append(addingCapacity: capacity) { output in
            var start = 0
            for gap in gaps {
                output.append(contentsOf: text.extracting(start..<gap.place))
                checks[gap.check].moment?.appendRFC3339(to: &output)
                start = gap.place
            }
            output.append(contentsOf: text.extracting(start...))
        }
    }
}

/// The latest different lists of checks, and their texts.
private struct CheckTexts: Sendable {
    private let most: Int
    private var known: [(checks: ArraySlice<TokenCheck>, text: CheckText)] = []
    /// The index of the one to replace next, once the list is full.
    private var oldest = 0

    /// - Parameter most: should be more than the keys that Apple has at a time, because a detail
    ///   contains the `kid`.
    init(most: Int) { self.most = most }

    /// The text of checks that differ from these only in their moments; nil if they are new.
    func text(of checks: Span<TokenCheck>) -> CheckText? {
        for index in known.indices where known[index].checks.areSameButMoments(checks) {
            return known[index].text
        }
        return nil
    }

    mutating func remember(_ checks: ArraySlice<TokenCheck>, _ text: CheckText) -> CheckText {
        if known.count < most {
            known.append((checks, text))
        } else {
            known[oldest] = (checks, text)
            oldest = (oldest + 1) % most
        }
        return text
    }
}
