internal import JOSE
package import Lifecycle

/// Writes the verification results of tokens.
///
/// Most checks have the same result for most tokens, so their text is cached.
package struct VerdictWriter: Sendable {
    /// For each position in the list of checks, the latest texts.
    private var places: [WrittenChecks] = []
    /// The checks of a token as an array.
    private var written: [UInt8] = []

    /// A writer that has written nothing.
    package init() {}

    /// What `siwa verify` prints, on one line.
    package mutating func bytes(of verification: IdentityTokenVerification) -> [UInt8] {
        var line = JSONLine()
        add(verification, to: &line)
        return line.finishedWithoutLineEnd()
    }

    private mutating func add(
        _ verification: IdentityTokenVerification, to line: inout JSONLine
    ) {
        write(verification.checks)
        line.add("valid", .boolean(verification.isValid))
        line.add("checks", written: written)
        if let token = verification.token {
            line.add("header", headerOf: token)
            line.add("claims", normalizedClaimsOf: token)
            if let kind = token.emailKind { line.add("email_kind", .string(kind.rawValue)) }
        }
    }

    /// Adds the line of an item: what `siwa verify` prints, and for a token that is not valid its
    /// error.
    mutating func append(
        _ item: IdentityTokenItem, _ status: BatchStatus,
        _ verification: IdentityTokenVerification, to text: inout [UInt8]
    ) {
        let lines = text
        // Releases the second reference: appending would otherwise copy the array.
        text = []
        var line = BatchOutput.begin(
            line: item.line, id: item.id, status, status == .done ? .done : .no,
            after: consume lines)
        line.add("token_fingerprint", .string(item.token.fingerprint))
        if status == .refused {
            let refusal = VerifiedSubject.identityToken.refusal(verification.failures, hints: [])
            line.add(.error(refusal.code, refusal.message))
        }
        add(verification, to: &line)
        text = line.finished()
    }

    private mutating func write(_ checks: [Check]) {
        written.removeAll(keepingCapacity: true)
        written.append(UInt8(ascii: "["))
        // Compares the checks in place: copying one takes longer than comparing it.
        let checks = checks.span
        for index in checks.indices {
            if index > 0 { written.append(UInt8(ascii: ",")) }
            if index == places.count { places.append(WrittenChecks()) }
            places[index].append(checks[index], to: &written)
        }
        written.append(UInt8(ascii: "]"))
    }
}

/// The checks that were written last, without the moments at the end of their details.
private struct WrittenChecks: Sendable {
    private var known: [Known] = []
    /// The index of the one to replace next, once the list is full.
    private var oldest = 0

    /// More than the keys that Apple has at a time, because a detail contains the `kid`.
    private static let most = 8

    private struct Known {
        let check: Check
        let text: [UInt8]
    }

    /// Adds a check to `text`. Its detail is the last member, and its moment the end of the
    /// detail.
    mutating func append(_ check: Check, to text: inout [UInt8]) {
        text += known[place(of: check)].text
        guard let moment = check.moment else { return }
        moment.appendRFC3339(to: &text)
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: "}"))
    }

    private mutating func place(of check: Check) -> Int {
        for index in known.indices where known[index].check.isSameButMoment(check) { return index }
        let end = check.moment.map { $0.rfc3339.utf8.count + 2 } ?? 0
        let new = Known(check: check, text: Array(check.json.bytes.dropLast(end)))
        if known.count < Self.most {
            known.append(new)
            return known.count - 1
        }
        defer { oldest = (oldest + 1) % Self.most }
        known[oldest] = new
        return oldest
    }
}
