internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

extension Verifying {
    /// Prints the verification, and fails if the token is invalid.
    ///
    /// A single claim of an invalid token is never printed, because a pipe loses the exit code.
    ///
    /// - Parameters:
    ///   - deed: the change that was made because of it; nil if there was none.
    ///   - members: the members after `valid` and `checks`.
    func report<Claims>(
        _ verification: Verification<Claims>, of subject: VerifiedSubject, deed: Deed? = nil,
        _ members: (CompactJWS) -> [JSON.Member]
    ) throws {
        let verdict = verification.verdict
        let isAlone = session.options.print.map { !verdict.map(\.name).contains($0) } ?? false
        if verification.isValid || !isAlone {
            let content = verification.token.map(members) ?? []
            try session.report(Report(.object(verdict + content), of: deed))
        }
        let failures = verification.failures
        guard verification.isValid else {
            throw subject.refusal(failures, hints: failures.map(\.hint))
        }
    }
}

extension TokenCheck {
    /// What to do if it failed.
    fileprivate var hint: String {
        switch subject {
        case .format: "give the complete token, as Apple sent it; 'siwa inspect' identifies a text"
        case .algorithm: "Apple signs with RS256 only: do not trust this token"
        case .key:
            """
            Apple withdraws old keys: verify an old token with the key set of its time \
            (--jwks FILE)
            """
        case .signature: "do not trust it: it was changed, or Apple did not sign it"
        case .issuer: "the token is not from Apple; --issuer accepts another issuer"
        case .audience: "if it is for another client of yours, accept that client with --audience"
        case .expiry: "ask for a newer token; --at TIME verifies it as of another time"
        case .issuedAt, .notBefore: "check this machine's clock"
        case .nonce: "give the nonce of this sign-in, as the app sent it"
        case .cHash: "only a token that was issued together with the code has c_hash"
        case .atHash: "only a token that was issued for a code has at_hash"
        case .subject: "'siwa notification' verifies notifications, 'siwa verify' identity tokens"
        case .event, .jti, .identityToken: "'siwa inspect' shows its contents"
        }
    }
}
