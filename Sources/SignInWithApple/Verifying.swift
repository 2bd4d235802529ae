internal import JOSE
internal import Lifecycle
internal import SIWACrypto

extension SignInWithAppleClient {
    /// Verifies an identity token, such as one that an app sends to its server.
    ///
    /// The signature is checked with Apple's public keys, which are fetched when they are needed
    /// and kept for an hour; issuer, audience, times and nonce are checked as well.
    ///
    /// - Parameters:
    ///   - identityToken: the JWT.
    ///   - nonce: the nonce of the sign-in request, if it had one.
    ///   - code: the authorization code that came with the token, to check that they belong
    ///     together (`c_hash`).
    ///   - accessToken: the access token that came with it, likewise (`at_hash`).
    ///   - timeout: the time to fetch Apple's public keys.
    /// - Returns: what the token says.
    /// - Throws: ``SignInWithAppleError``, of kind `invalidIdentityToken` or `keysUnavailable`.
    @discardableResult
    public func verify(
        _ identityToken: String, nonce: String? = nil, code: String? = nil,
        accessToken: String? = nil, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> IdentityClaims {
        let binding = TokenBinding(
            nonce: nonce.map { SecretText($0) },
            code: code.map { AuthorizationCode(SecretText($0)) },
            accessToken: accessToken.map { AccessToken(SecretText($0)) })
        return try await claims(of: identityToken, boundTo: binding, timeout)
    }

    /// Verifies a server-to-server notification.
    ///
    /// - Parameters:
    ///   - body: what Apple posted: `{"payload":"…"}`.
    ///   - timeout: the time to fetch Apple's public keys.
    /// - Returns: what happened.
    /// - Throws: ``SignInWithAppleError``, of kind `invalidNotification` or `keysUnavailable`:
    ///   answer 503 to the latter, and Apple sends the notification again.
    public func notification(
        _ body: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> AccountEvent {
        let token: CompactJWS
        do throws(NotificationBodyError) {
            token = try CompactJWS(notificationBody: Array(body.utf8))
        } catch {
            throw SignInWithAppleError(.invalidNotification, "the notification: \(error)")
        }
        let verification = try await verifier(for: token, timeout)
            .verify(notification: token, at: clocks.now())
        guard let notification = verification.claims else {
            throw SignInWithAppleError(
                .invalidNotification, "the notification", verification.failures)
        }
        return AccountEvent(notification)
    }

    func claims(
        of identityToken: String, boundTo binding: TokenBinding, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> IdentityClaims {
        let token: CompactJWS
        do throws(CompactJWSError) {
            token = try CompactJWS(identityToken)
        } catch {
            throw SignInWithAppleError(.invalidIdentityToken, "the identity token \(error)")
        }
        let verification = try await verifier(for: token, timeout)
            .verify(identityToken: token, boundTo: binding, at: clocks.now())
        guard let claims = verification.claims else {
            throw SignInWithAppleError(
                .invalidIdentityToken, "the identity token", verification.failures)
        }
        return IdentityClaims(claims)
    }

    /// What verifies a token. Nothing is fetched for one with a header that Apple does not write.
    private func verifier(
        for token: CompactJWS, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> TokenVerifier {
        var keySet: KeySet?
        if let keyID = token.verificationKeyID {
            let client = KeySetClient(baseURL: baseURL, delivery: delivery(timeout))
            do throws(TokenFailure) {
                keySet = try await keys.keySet(holding: keyID, from: client, clocks: clocks)
            } catch {
                throw SignInWithAppleError(keysUnavailable: error, at: clocks.now())
            }
        }
        return TokenVerifier(keySet: keySet, audiences: audiences)
    }
}

extension SignInWithAppleError {
    fileprivate init(keysUnavailable failure: TokenFailure, at now: NumericDate) {
        let cause = SignInWithAppleError(failure, at: now)
        self.init(.keysUnavailable, "Apple's public keys cannot be fetched: \(cause.message)")
        (isRetryable, retryAfter) = (true, cause.retryAfter)
        (status, requestID) = (cause.status, cause.requestID)
    }
}
