internal import SIWAApplication
import SIWALifecycle
import SIWAServerRecords

/// The validated input of `POST /v1/revoke`.
struct RevocationInput: Sendable {
    /// The tokens to revoke.
    enum Target: Sendable {
        /// All tokens of a user in the vault; only those of one client if it is given.
        case user(UserID, ClientID?)
        /// A refresh token of the caller.
        case token(RefreshToken, ProfileClient)
        /// A code, which is exchanged once.
        case code(AuthorizationCode, ProfileClient)
    }

    /// The tokens to revoke.
    let target: Target
    /// The requested proof.
    let proof: Revocation.Proof
    /// How long the caller waits for the result.
    let maxWait: Duration

    /// Creates the input.
    init(
        _ target: Target, proof: Revocation.Proof = .beforeAndAfterwards,
        maxWait: Duration = .seconds(10)
    ) {
        (self.target, self.proof, self.maxWait) = (target, proof, maxWait)
    }
}
