internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

extension SignInWithAppleClient {
    /// Exchanges an authorization code for tokens, and verifies the identity token (Apple:
    /// "Generate and validate tokens"; RFC 6749 §4.1.3).
    ///
    /// The times of the identity token pass if they pass by this machine's clock or by the `Date` of
    /// Apple's response, so that a wrong clock does not waste a code.
    ///
    /// A code works once. It is sent again only if it certainly was not sent before. Cancelling the
    /// task has no effect after the code may have been sent: the call then returns the tokens that
    /// Apple issued.
    ///
    /// Apple's public keys being unavailable costs no code. If the transport authenticates the
    /// server, the signature is then not checked, because the identity token came from Apple itself
    /// (OpenID Connect Core §3.1.3.7): see ``SignIn/isSignatureChecked``. Otherwise, the keys are
    /// fetched before the code is sent.
    ///
    /// - Parameters:
    ///   - code: the authorization code, five minutes old at most.
    ///   - nonce: the raw nonce of the sign-in request; the token may have it raw or hashed. Nil
    ///     does not check it.
    ///   - redirectURI: the redirect URI of the sign-in, for a code of a sign-in on the web only.
    ///   - codeVerifier: the PKCE verifier (RFC 7636), if the sign-in request had a challenge.
    ///   - timeout: the time for the exchange, and again for Apple's public keys; nil uses that of
    ///     the client.
    /// - Returns: the tokens, and the claims of the verified identity token.
    /// - Throws: ``SignInWithAppleError``. If the exchange succeeded but the identity token is
    ///   invalid or cannot be verified, ``SignInWithAppleError/tokens`` contains the tokens that
    ///   Apple issued. Of kind `keysUnavailable` with `codeMayBeSpent` false, the code was not sent
    ///   and may be used again.
    @discardableResult
    public func exchange(
        _ code: String, nonce: String? = nil, redirectURI: String? = nil,
        codeVerifier: String? = nil, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> SignIn {
        let code = AuthorizationCode(try opaque(code, "the authorization code"))
        let verifier = codeVerifier.map { CodeVerifier(SecretText($0)) }
        if !isServerAuthenticated { _ = try await keySet(holding: nil, timeout) }
        let gate = CancellationGate()
        let requests = requests(delivery(timeout, through: GatedTransport(shared.transport, gate)))
        return try await gate.run { () async -> Result<SignIn, SignInWithAppleError> in
            do throws(SignInWithAppleError) {
                let response = try await answer { () async throws(TokenFailure) in
                    try await requests.exchange(
                        code, redirectURI: redirectURI, codeVerifier: verifier)
                }
                return .success(try await signIn(response, nonce, timeout))
            } catch {
                if error.codeMayBeSpent, error.tokens == nil {
                    shared.observer.tell(.codeOutcomeUnknown)
                }
                return .failure(error)
            }
        }.get()
    }

    private func signIn(
        _ response: TokenResponse, _ nonce: String?, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> SignIn {
        let tokens = SignInTokens(response, at: shared.clocks.now())
        do throws(SignInWithAppleError) {
            let verification = try await verify(response, nonce, timeout)
            guard let claims = verification.claims else {
                throw .invalidIdentityToken(verification)
            }
            return SignIn(
                tokens: tokens, claims: IdentityClaims(claims),
                isSignatureChecked: verification.isSigned)
        } catch {
            throw error.carrying(tokens)
        }
    }

    private func verify(
        _ response: TokenResponse, _ nonce: String?, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> IdentityTokenVerification {
        let rule = ExchangeVerification(
            audiences: clientIDs, nonce: nonce.map { SecretText($0) },
            isServerAuthenticated: isServerAuthenticated)
        let keys = try await keys(for: response, timeout)
        return rule.verify(response, by: keys, at: TokenTimes(shared.clocks.now()))
            ?? IdentityTokenVerification(
                impossible: .identityToken, "Apple's answer has no identity token")
    }

    private func keys(
        for response: TokenResponse, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> ExchangeVerification.Keys {
        if let given = shared.givenKeys { return .given(given) }
        guard let keyID = response.verificationKeyID else { return .apple(nil) }
        do throws(SignInWithAppleError) {
            return .apple(try await keySet(holding: keyID, timeout))
        } catch {
            guard isServerAuthenticated else { throw error }
            return .apple(nil)
        }
    }

    /// Validates a refresh token and gets a new access token (Apple: "Generate and validate
    /// tokens"; RFC 6749 §6). Apple allows this about once a day for a user, and may refuse more
    /// frequent calls.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - timeout: the time for the request and its retries; nil uses that of the client.
    /// - Returns: the new access token, and an identity token, which is not verified. The refresh
    ///   token does not change and is not returned.
    /// - Throws: ``SignInWithAppleError``, of kind `grantRefused` if the token does not work.
    @discardableResult
    public func refresh(
        _ token: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> SignInTokens {
        let token = RefreshToken(try opaque(token, "the refresh token"))
        let requests = requests(delivery(timeout))
        let response = try await answer { () async throws(TokenFailure) in
            try await requests.refresh(token)
        }
        return SignInTokens(response, at: shared.clocks.now())
    }

    /// Runs an operation of the engine, and converts its errors to the library's type.
    func answer<Answer: Sendable>(
        _ body: () async throws(TokenFailure) -> Answer
    ) async throws(SignInWithAppleError) -> Answer {
        do throws(TokenFailure) {
            return try await body()
        } catch {
            throw SignInWithAppleError(error, at: shared.clocks.now())
        }
    }

    /// Checks a code or a token before it is sent.
    func opaque(_ text: String, _ name: String) throws(SignInWithAppleError) -> SecretText {
        let secret = SecretText(text)
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(secret)
        } catch {
            throw SignInWithAppleError(.invalidArgument, "\(name) \(error)")
        }
        return secret
    }
}
