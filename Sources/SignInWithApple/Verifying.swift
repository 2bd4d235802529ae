internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

extension SignInWithAppleClient {
    /// Verifies an identity token, such as one that an app sends to its server.
    ///
    /// Checks the signature (RS256) with Apple's public keys, which are fetched when needed and
    /// kept for an hour, and issuer, audience, times and nonce (Apple: "Verifying a user"; OpenID
    /// Connect Core §3.1.3.7).
    ///
    /// - Parameters:
    ///   - identityToken: the JWT.
    ///   - nonce: the raw nonce of the sign-in request; the token may have it raw or hashed. Nil
    ///     does not check it.
    ///   - code: the authorization code that was issued with the token. A token without `c_hash`,
    ///     or with that of another code, is then invalid.
    ///   - accessToken: the access token that was issued with it. A token without `at_hash`, or
    ///     with that of another access token, is then invalid.
    ///   - timeout: the time to fetch Apple's public keys; nil uses that of the client.
    /// - Returns: the claims of the token.
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

    /// Verifies a server-to-server notification (Apple: "Processing changes for Sign in with Apple
    /// accounts").
    ///
    /// - Parameters:
    ///   - body: the body that Apple posted: `{"payload":"…"}`.
    ///   - timeout: the time to fetch Apple's public keys; nil uses that of the client.
    /// - Returns: the event, which Apple may send more than once: see ``AccountEvent/id``.
    /// - Throws: ``SignInWithAppleError``, of kind `invalidNotification` or `keysUnavailable`:
    ///   answer 503 to the latter, and Apple sends the notification again.
    public func notification(
        _ body: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> AccountEvent {
        let token: CompactJWS
        do throws(NotificationBodyError) {
            token = try CompactJWS.read(
                notificationBody: Array(body.utf8), with: shared.reader)
        } catch {
            let verification = NotificationVerification(impossible: .format, error.description)
            throw SignInWithAppleError(
                .invalidNotification, "the notification", verification.failures)
        }
        let verification = try await verifier(for: token, timeout)
            .verify(notification: token, at: shared.clocks.now())
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
            token = try shared.reader.read(Array(identityToken.utf8))
        } catch {
            throw .invalidIdentityToken(IdentityTokenVerification(error))
        }
        let verification = try await verifier(for: token, timeout)
            .verify(identityToken: token, boundTo: binding, at: shared.clocks.now())
        guard let claims = verification.claims else {
            throw .invalidIdentityToken(verification)
        }
        return IdentityClaims(claims)
    }

    /// The verifier for a token. No keys are fetched for a header that Apple does not write.
    private func verifier(
        for token: CompactJWS, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> TokenVerifier {
        var keySet: KeySet?
        if let keyID = token.verificationKeyID {
            keySet = try await self.keySet(holding: keyID, timeout)
        }
        return TokenVerifier(keySet: keySet, audiences: clientIDs)
    }

    /// Apple's keys, with the key `keyID` if Apple has it.
    ///
    /// - Parameter keyID: nil if any set will do.
    func keySet(
        holding keyID: String?, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> KeySet {
        if let given = shared.givenKeys { return given }
        if let fresh = shared.keys.fresh(holding: keyID, at: shared.clocks.now()) { return fresh }
        let deadline = Deadline(after: timeout ?? shared.timeout, by: shared.clocks.timekeeper)
        do throws(KeySource.Unavailable) {
            return try await shared.keys.keySet(
                holding: keyID, until: deadline,
                from: KeySetClient(baseURL: shared.baseURL, delivery: delivery(nil)),
                clocks: shared.clocks)
        } catch {
            throw SignInWithAppleError(error, at: shared.clocks.now())
        }
    }
}

extension SignInWithAppleError {
    /// An identity token failed checks.
    static func invalidIdentityToken(_ verification: IdentityTokenVerification) -> Self {
        Self(.invalidIdentityToken, "the identity token", verification.failures)
    }

    fileprivate init(_ unavailable: KeySource.Unavailable, at now: NumericDate) {
        let cause = SignInWithAppleError(unavailable.failure, at: now)
        let isCancelled = cause.kind == .cancelled
        self.init(
            isCancelled ? .cancelled : .keysUnavailable,
            isCancelled
                ? cause.message : "Apple's public keys cannot be fetched: \(cause.message)")
        (isRetryable, retryAfter) = (true, unavailable.retryAfter)
        (status, requestID) = (cause.status, cause.requestID)
    }
}
