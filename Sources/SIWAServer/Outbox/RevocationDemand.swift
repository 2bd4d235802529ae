package import Lifecycle
package import SIWACLI
package import ServerRecords

/// A request to revoke, checked.
package struct RevocationDemand: Sendable {
    /// What is revoked.
    package enum Target: Sendable {
        /// All tokens that the vault has of a user; of one client if it is named.
        case user(UserID, ClientID?)
        /// A refresh token that the caller has.
        case token(RefreshToken, ProfileClient)
        /// A code, which is exchanged once.
        case code(AuthorizationCode, ProfileClient)
    }

    /// What is revoked.
    package let target: Target
    /// Which proof is asked for.
    package let proof: RevocationJob.Proof
    /// How long the caller waits for the end.
    package let patience: Duration

    /// Describes a request.
    package init(
        _ target: Target, proof: RevocationJob.Proof = .checkFirst,
        patience: Duration = .seconds(10)
    ) {
        (self.target, self.proof, self.patience) = (target, proof, patience)
    }
}
