package import SIWALifecycle

extension SignInWithAppleClient {
    /// Revokes a refresh token, as App Store review requires when a user deletes the account
    /// (Apple: "Revoke tokens"; RFC 7009).
    ///
    /// Revoking twice is harmless: after a failure, call this again.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - proof: the proof to obtain.
    ///   - timeout: the time for all requests together; nil uses that of the client.
    /// - Returns: the result, with the evidence of the proof.
    /// - Throws: ``SignInWithAppleError``, of kind `notRevoked` if the proof shows that the token
    ///   still works.
    @discardableResult
    public func revoke(
        _ token: String, proof: RevocationProofLevel = .beforeAndAfter, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> RevocationResult {
        let revocation = try await revocation(
            of: opaque(token, "the refresh token"), proof.steps, timeout)
        guard revocation.isDead else { throw SignInWithAppleError(notRevoked: revocation) }
        return RevocationResult(revocation)
    }

    /// Revokes an access token and its session (RFC 7009). This cannot be proved, so prefer the
    /// refresh token.
    ///
    /// - Parameters:
    ///   - accessToken: the access token.
    ///   - timeout: the time for the request and its retries; nil uses that of the client.
    /// - Returns: the result, without evidence.
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

extension SignInWithAppleError {
    /// The token still works, although Apple accepted its revocation.
    package init(notRevoked revocation: Revocation) {
        self.init(.notRevoked, "Apple accepted the revocation, but the token still works")
        (isRetryable, status, requestID) = (true, revocation.status, revocation.requestID)
    }
}
