internal import JOSE
internal import Lifecycle

/// Writes the results of a batch's tokens, one after the other.
///
/// Most checks end alike for most tokens: they are kept as they were written for the token before.
struct VerdictWriter: Sendable {
    private var checks: [Check] = []
    /// ``checks`` as an array.
    private var written: [UInt8] = []
    /// Where the moment of each check is in it; empty for a check without one.
    private var moments: [Range<Int>] = []

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
        if !updateMoments(verification.checks) { rewrite(verification.checks) }
        line.add("valid", .boolean(verification.isValid))
        line.add("checks", written: written)
        if let token = verification.token {
            line.add("header", headerOf: token)
            line.add("claims", normalizedClaimsOf: token)
            if let kind = token.emailKind { line.add("email_kind", .string(kind.rawValue)) }
        }
        text = line.finished()
    }

    /// Replaces the moments of the checks that are written; false when more than these differs.
    private mutating func updateMoments(_ newer: [Check]) -> Bool {
        let older = checks
        guard newer.count == older.count else { return false }
        // Looked at where they are: copying a check takes longer than comparing it.
        let (new, old) = (newer.span, older.span)
        for index in new.indices {
            guard new[index].isSameButMoment(old[index]) else { return false }
            guard let moment = new[index].moment, moment != old[index].moment else { continue }
            let text = moment.rfc3339
            guard text.utf8.count == moments[index].count else { return false }
            written.replaceSubrange(moments[index], with: text.utf8)
        }
        checks = newer
        return true
    }

    private mutating func rewrite(_ newer: [Check]) {
        (checks, written, moments) = (newer, [UInt8(ascii: "[")], [])
        for check in newer {
            if written.count > 1 { written.append(UInt8(ascii: ",")) }
            written += check.json.bytes
            // The detail is the last member, and the moment the end of the detail.
            let end = written.count - 2
            moments.append(end - (check.moment?.rfc3339.utf8.count ?? 0)..<end)
        }
        written.append(UInt8(ascii: "]"))
    }
}
