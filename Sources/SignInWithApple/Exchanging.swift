internal import JOSE
internal import Lifecycle
internal import SIWACrypto

extension SignInWithAppleClient {
    /// Exchanges an authorization code for tokens, and verifies the identity token.
    ///
    /// A code works once. It is sent once, and again only if it certainly did not leave. Cancelling
    /// the task has no effect once the code may have left: the call then returns what Apple issued.
    ///
    /// - Parameters:
    ///   - code: the authorization code, five minutes old at most.
    ///   - nonce: the nonce of the sign-in request, if it had one.
    ///   - redirectURI: for a code of a web sign-in: the redirect URI of that sign-in.
    ///   - codeVerifier: the PKCE verifier (RFC 7636), if the sign-in request had a challenge.
    ///   - timeout: the time for the exchange, and again for Apple's public keys.
    /// - Returns: the tokens, and what the verified identity token says.
    /// - Throws: ``SignInWithAppleError``. If the exchange succeeded and the identity token is not
    ///   valid, ``SignInWithAppleError/tokens`` has what Apple issued.
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

    /// Validates a refresh token and gets a new access token. Apple answers this about once a day
    /// for a user; more often it may refuse.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - timeout: the time for the request and its retries.
    /// - Returns: the new access token; the refresh token stays as it is.
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

    /// Does something with the engine, its failures in the library's own type.
    func answer<Answer: Sendable>(
        _ body: () async throws(TokenFailure) -> Answer
    ) async throws(SignInWithAppleError) -> Answer {
        do throws(TokenFailure) {
            return try await body()
        } catch {
            throw SignInWithAppleError(error, at: clocks.now())
        }
    }

    /// Takes a code or a token, and refuses what cannot be one before it is sent.
    func opaque(_ text: String, _ name: String) throws(SignInWithAppleError) -> SecretText {
        let secret = SecretText(text)
        guard !text.isEmpty else {
            throw SignInWithAppleError(.invalidArgument, "\(name) is empty")
        }
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(secret)
        } catch {
            throw SignInWithAppleError(.invalidArgument, "\(name) \(error)")
        }
        return secret
    }
}
