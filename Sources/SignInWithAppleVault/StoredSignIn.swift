public import SignInWithApple

/// A user who signed in, and whose refresh token the vault has. It contains no token.
public struct StoredSignIn: Hashable, Sendable {
    /// The claims of the verified identity token.
    public let claims: IdentityClaims
    /// See `SignIn.isSignatureChecked`.
    public let isSignatureChecked: Bool
    /// The refresh token in the vault.
    public let token: StoredToken

    /// Creates a sign-in, for tests.
    public init(claims: IdentityClaims, isSignatureChecked: Bool = true, token: StoredToken) {
        (self.claims, self.isSignatureChecked, self.token) = (claims, isSignatureChecked, token)
    }

    /// Identifies the user for all apps of the team.
    public var userID: String { claims.userID }
}

extension SignInWithAppleClient {
    /// Exchanges an authorization code, and stores the refresh token before anything else may fail:
    /// the code is spent, so no other copy exists.
    ///
    /// - Parameters:
    ///   - code: the authorization code, five minutes old at most.
    ///   - vault: stores the refresh token. It is asked before the code is sent whether it can be
    ///     reached.
    ///   - nonce: the raw nonce of the sign-in request; nil does not check it.
    ///   - redirectURI: the redirect URI of the sign-in, for a code of a sign-in on the web only.
    ///   - codeVerifier: the PKCE verifier (RFC 7636), if the sign-in request had a challenge.
    ///   - timeout: see `exchange(_:nonce:redirectURI:codeVerifier:timeout:)`.
    /// - Returns: the user.
    /// - Throws: `SignInWithAppleError`. Of kind `notStored` with `codeMayBeSpent` false, the vault
    ///   cannot be reached and nothing was sent. With `codeMayBeSpent` true, the exchange succeeded
    ///   and `signIn` has the only copy of the token: store it later with
    ///   ``TokenVault/store(_:)``. Otherwise as
    ///   `exchange(_:nonce:redirectURI:codeVerifier:timeout:)`.
    @discardableResult
    public func exchange(
        _ code: String, storingIn vault: TokenVault, nonce: String? = nil,
        redirectURI: String? = nil, codeVerifier: String? = nil, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> StoredSignIn {
        do throws(TokenVaultError) {
            try await vault.requireReachable()
        } catch {
            throw SignInWithAppleError(.notStored, "nothing was sent: \(error)")
                .retryable(error.isRetryable)
        }
        let signIn = try await exchange(
            code, nonce: nonce, redirectURI: redirectURI, codeVerifier: codeVerifier,
            timeout: timeout)
        do throws(TokenVaultError) {
            return StoredSignIn(
                claims: signIn.claims, isSignatureChecked: signIn.isSignatureChecked,
                token: try await vault.store(signIn))
        } catch {
            var failure = SignInWithAppleError(.notStored, "the token was not stored: \(error)")
            (failure.signIn, failure.tokens) = (signIn, signIn.tokens)
            (failure.codeMayBeSpent, failure.requestID) = (true, signIn.tokens.requestID)
            throw failure
        }
    }

    /// Completes a sign-in on the web, and stores the refresh token before anything else may fail.
    ///
    /// - Parameters:
    ///   - callback: what the browser posted.
    ///   - signIn: what was kept in the browser's session. Remove it there, whatever happens.
    ///   - vault: stores the refresh token.
    ///   - timeout: see `exchange(_:nonce:redirectURI:codeVerifier:timeout:)`.
    /// - Throws: `SignInWithAppleError`, as `exchange(_:of:timeout:)` and
    ///   ``exchange(_:storingIn:nonce:redirectURI:codeVerifier:timeout:)``.
    @discardableResult
    public func exchange(
        _ callback: WebCallback, of signIn: WebSignIn, storingIn vault: TokenVault,
        timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> StoredSignIn {
        try await exchange(
            try callback.code(of: signIn), storingIn: vault, nonce: signIn.nonce,
            redirectURI: signIn.redirectURI, timeout: timeout)
    }
}

extension SignInWithAppleError {
    fileprivate func retryable(_ isRetryable: Bool) -> Self {
        var error = self
        error.isRetryable = isRetryable
        return error
    }
}
