internal import JOSE
package import Lifecycle

/// Writes what was found of tokens, one after the other.
///
/// Most checks end alike for most tokens: they are kept as they were written for the token before.
package struct VerdictWriter: Sendable {
    private var checks: [Check] = []
    /// ``checks`` as an array.
    private var written: [UInt8] = []
    /// Where each check is in it.
    private var places: [Range<Int>] = []

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
        remember(verification.checks)
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
        // Otherwise there are two of them, and adding to one begins with a copy.
        text = []
        var line = BatchOutput.begin(
            line: item.line, id: item.id, status, status == .done ? .done : .no,
            behind: consume lines)
        line.add("token_fingerprint", .string(item.token.fingerprint))
        if status == .refused {
            let refusal = VerifiedSubject.identityToken.refusal(verification.failures, hints: [])
            line.add(.error(refusal.code, refusal.message))
        }
        add(verification, to: &line)
        text = line.finished()
    }

    /// Writes the checks that differ from those of the token before.
    private mutating func remember(_ newer: [Check]) {
        let older = checks
        guard newer.count == older.count else { return rewrite(newer) }
        checks = newer
        for index in newer.indices {
            switch Check.difference(of: newer.span, from: older.span, at: index) {
            case .none: break
            case .moment(let moment): replaceMoment(of: index, with: moment)
            case .other: replace(index, with: newer[index].json.bytes)
            }
        }
    }

    private mutating func rewrite(_ newer: [Check]) {
        (checks, written, places) = (newer, [UInt8(ascii: "[")], [])
        for check in newer {
            if written.count > 1 { written.append(UInt8(ascii: ",")) }
            let start = written.count
            written += check.json.bytes
            places.append(start..<written.count)
        }
        written.append(UInt8(ascii: "]"))
    }

    private mutating func replace(_ index: Int, with text: [UInt8]) {
        let growth = text.count - places[index].count
        written.replaceSubrange(places[index], with: text)
        places[index] = places[index].lowerBound..<places[index].upperBound + growth
        guard growth != 0 else { return }
        for later in index + 1..<places.count {
            places[later] =
                places[later].lowerBound + growth..<places[later].upperBound + growth
        }
    }

    /// The detail is the last member of a check, and the moment the end of the detail. All that
    /// are writable take the same room.
    private mutating func replaceMoment(of index: Int, with moment: NumericDate) {
        let (text, end) = (moment.rfc3339.utf8, places[index].upperBound - 2)
        written.replaceSubrange(end - text.count..<end, with: text)
    }
}
