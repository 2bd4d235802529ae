internal import SignInWithApple

/// Writes the results of a batch's tokens, one after the other.
///
/// Most checks end alike for most tokens: each is kept as it was written for the token before.
struct VerdictWriter: Sendable {
    private var checks: [Check] = []
    private var written: [[UInt8]] = []

    /// The line of an item: what `siwa verify` prints, and for a token that is not valid its
    /// error.
    mutating func bytes(
        _ item: IdentityTokenItem, _ status: BatchStatus, _ verification: IdentityTokenVerification
    ) -> [UInt8] {
        var line = BatchOutput.begin(
            line: item.line, id: item.id, status, status == .done ? .done : .no)
        if status == .refused {
            let refusal = VerifiedSubject.identityToken.refusal(verification.failures, hints: [])
            line.add(.error(refusal.code, refusal.message))
        }
        remember(verification.checks)
        line.add("valid", .boolean(verification.isValid))
        line.add("checks", written: written)
        for member in verification.token?.identityMembers ?? [] { line.add(member) }
        return line.finished()
    }

    private mutating func remember(_ newer: [Check]) {
        if newer.count != checks.count { (checks, written) = ([], []) }
        // Spans lend their elements, where arrays would hand out copies.
        let (before, after) = (checks.span, newer.span)
        for index in after.indices where before.isEmpty || before[index] != after[index] {
            let bytes = after[index].json.bytes
            if index == written.count { written.append(bytes) } else { written[index] = bytes }
        }
        checks = newer
    }
}
