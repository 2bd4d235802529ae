internal import JOSE
package import Lifecycle

/// Writes what was found of tokens, one after the other.
///
/// Most checks end alike for most tokens: each is kept as it was written for the token before.
package struct VerdictWriter: Sendable {
    private var checks: [Check] = []
    private var written: [[UInt8]] = []

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

    private mutating func remember(_ newer: [Check]) {
        let older = checks
        guard newer.count == older.count else {
            (checks, written) = (newer, newer.map(\.json.bytes))
            return
        }
        // Looked at where they are: copying a check takes longer than comparing it.
        let (new, old) = (newer.span, older.span)
        for index in new.indices where new[index] != old[index] {
            written[index] = new[index].json.bytes
        }
        checks = newer
    }
}
