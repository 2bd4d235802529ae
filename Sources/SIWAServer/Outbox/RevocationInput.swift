internal import SIWAApplication
package import SIWALifecycle
package import SIWAServerRecords

/// The validated input of `POST /v1/revoke`.
package struct RevocationInput: Sendable {
    /// The tokens to revoke.
    package enum Target: Sendable {
        /// All tokens of a user in the vault; only those of one client if it is given.
        case user(UserID, ClientID?)
        /// A refresh token of the caller.
        case token(RefreshToken, ProfileClient)
        /// A code, which is exchanged once.
        case code(AuthorizationCode, ProfileClient)
    }

    /// The tokens to revoke.
    package let target: Target
    /// The requested proof.
    package let proof: RevocationJob.Proof
    /// How long the caller waits for the result.
    package let maxWait: Duration

    /// Creates the input.
    package init(
        _ target: Target, proof: RevocationJob.Proof = .checkFirst,
        maxWait: Duration = .seconds(10)
    ) {
        (self.target, self.proof, self.maxWait) = (target, proof, maxWait)
    }
}
