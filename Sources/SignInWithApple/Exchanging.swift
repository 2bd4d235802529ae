internal import JOSE
internal import Lifecycle
internal import SIWACrypto

extension SignInWithAppleClient {
    /// Exchanges an authorization code for tokens, and verifies the identity token (Apple:
    /// "Generate and validate tokens"; RFC 6749 §4.1.3).
    ///
    /// A code works once. It is sent again only if it certainly was not sent before. Cancelling the
    /// task has no effect after the code may have been sent: the call then returns the tokens that
    /// Apple issued.
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
    ///   Apple issued.
    @discardableResult
    public func exchange(
        _ code: String, nonce: String? = nil, redirectURI: String? = nil,
        codeVerifier: String? = nil, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> SignIn {
        let code = AuthorizationCode(try opaque(code, "the authorization code"))
        let verifier = codeVerifier.map { CodeVerifier(SecretText($0)) }
        let gate = CancellationGate()
        let requests = requests(delivery(timeout, through: GatedTransport(transport, gate)))
        return try await gate.run { () async -> Result<SignIn, SignInWithAppleError> in
            do throws(SignInWithAppleError) {
                let response = try await answer { () async throws(TokenFailure) in
                    try await requests.exchange(
                        code, redirectURI: redirectURI, codeVerifier: verifier)
                }
                return .success(try await signIn(response, nonce, timeout))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private func signIn(
        _ response: TokenResponse, _ nonce: String?, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> SignIn {
        let tokens = SignInTokens(response, at: clocks.now())
        do throws(SignInWithAppleError) {
            guard let token = tokens.identityToken else {
                throw SignInWithAppleError(
                    .invalidIdentityToken, "Apple's response has no identity token")
            }
            let binding = TokenBinding(
                nonce: nonce.map { SecretText($0) }, accessToken: response.accessToken,
                acceptsMissingHashes: true)
            return SignIn(
                tokens: tokens, claims: try await claims(of: token, boundTo: binding, timeout))
        } catch {
            throw error.carrying(tokens)
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
        return SignInTokens(response, at: clocks.now())
    }

    /// Runs an operation of the engine, and converts its errors to the library's type.
    func answer<Answer: Sendable>(
        _ body: () async throws(TokenFailure) -> Answer
    ) async throws(SignInWithAppleError) -> Answer {
        do throws(TokenFailure) {
            return try await body()
        } catch {
            throw SignInWithAppleError(error, at: clocks.now())
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
