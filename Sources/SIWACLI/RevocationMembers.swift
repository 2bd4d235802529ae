internal import SIWACrypto
internal import SignInWithApple

extension Revocation {
    /// Whether, for all that is known, the token does not work any more.
    var isDead: Bool { isRevoked || wasActive == false }

    /// What is known of it, as results show it.
    func members(
        _ kind: TokenKind, _ client: ClientID, _ token: SecretText, at now: NumericDate
    ) -> [JSON.Member] {
        [
            .init("revoked", .boolean(isRevoked)), .init("confirmed", .boolean(isConfirmed)),
            .init("kind", .string(kind.rawValue)), .init("client_id", .string(client.rawValue)),
            .init("token_fingerprint", .string(token.fingerprint)),
            .init("http_status", status.map { .integer($0) } ?? .null),
            .init("at", .string(now.rfc3339)),
        ] + (wasActive.map { [.init("was_active", .boolean($0))] } ?? [])
            + (evidence.map { [.init("evidence", .string($0.rawValue))] } ?? [])
    }
}
