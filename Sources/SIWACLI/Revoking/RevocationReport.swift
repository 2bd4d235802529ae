internal import SIWACrypto
internal import SignInWithApple

/// What a result says of a revocation.
struct RevocationReport: Sendable {
    let isRevoked: Bool
    let isConfirmed: Bool
    let kind: TokenKind
    let clientID: ClientID
    let fingerprint: String
    let date: NumericDate
    let revocation: Revocation

    /// Reports a revocation of this run.
    init(
        _ revocation: Revocation, of token: SecretText, _ kind: TokenKind, _ clientID: ClientID,
        at date: NumericDate
    ) {
        (isRevoked, isConfirmed) = (revocation.isRevoked, revocation.isConfirmed)
        (self.kind, self.clientID, fingerprint) = (kind, clientID, token.fingerprint)
        (self.date, self.revocation) = (date, revocation)
    }

    /// The result's members, in their order.
    var members: [JSON.Member] {
        [
            .init("revoked", .boolean(isRevoked)), .init("confirmed", .boolean(isConfirmed)),
            .init("kind", .string(kind.rawValue)), .init("client_id", .string(clientID.rawValue)),
            .init("token_fingerprint", .string(fingerprint)),
            .init("http_status", revocation.status.map { .integer($0) } ?? .null),
            .init("at", .string(date.rfc3339)),
        ] + (revocation.wasActive.map { [.init("was_active", .boolean($0))] } ?? [])
            + (revocation.evidence.map { [.init("evidence", .string($0.rawValue))] } ?? [])
            + (revocation.requestID.map { [.init("apple_request_id", .string($0))] } ?? [])
    }

    /// The names of the members that a result can have, so that a misspelt `--print` is found
    /// before anything is revoked.
    static func memberNames(_ proof: Revocation.Proof) -> [String] {
        ["revoked", "confirmed", "kind", "client_id", "token_fingerprint", "http_status", "at"]
            + (proof == .beforeAndAfterwards ? ["was_active"] : [])
            + (proof == .none ? [] : ["evidence"]) + ["apple_request_id"]
    }
}
