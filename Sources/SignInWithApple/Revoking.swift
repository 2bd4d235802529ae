package import Lifecycle

extension SignInWithAppleClient {
    /// Revokes a refresh token, as App Store review requires when a user deletes the account.
    ///
    /// Revoking twice does no harm: after a failure, call it again.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - proof: what to prove.
    ///   - timeout: the time for all requests together.
    /// - Returns: what is known of the token.
    /// - Throws: ``SignInWithAppleError``. A token that still works is no error: see
    ///   ``RevocationResult/isDead``.
    @discardableResult
    public func revoke(
        _ token: String, proof: RevocationProofLevel = .beforeAndAfter, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> RevocationResult {
        RevocationResult(
            try await revocation(of: opaque(token, "the refresh token"), proof.steps, timeout))
    }

    /// Revokes an access token, and with it the session that it belongs to. This cannot be proved:
    /// prefer the refresh token.
    ///
    /// - Parameters:
    ///   - accessToken: the access token.
    ///   - timeout: the time for the request and its retries.
    /// - Returns: what is known of the token, without proof.
    /// - Throws: ``SignInWithAppleError``.
    @discardableResult
    public func revoke(
        accessToken: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> RevocationResult {
        RevocationResult(
            try await revocation(
                of: opaque(accessToken, "the access token"), as: .accessToken, .none, timeout))
    }

    package func revocation(
        of token: SecretText, as kind: TokenKind = .refreshToken, _ proof: Revocation.Proof,
        _ timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> Revocation {
        let requests = requests(delivery(timeout))
        return try await answer { () async throws(TokenFailure) in
            try await requests.revoke(token, as: kind, proof: proof)
        }
    }
}
