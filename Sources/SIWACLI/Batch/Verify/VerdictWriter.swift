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
        if let token = verification.token {
            line.add("header", token.header)
            line.add("claims", normalizedClaims: token.payload)
        }
        return line.finished()
    }

    private mutating func remember(_ newer: [Check]) {
        if newer.count != checks.count { (checks, written) = ([], []) }
        for index in newer.indices where index >= checks.count || newer[index] != checks[index] {
            let bytes = newer[index].json.bytes
            if index == written.count { written.append(bytes) } else { written[index] = bytes }
        }
        checks = newer
    }
}
