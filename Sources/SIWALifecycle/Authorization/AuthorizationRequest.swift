internal import SIWACrypto

/// A sign-in on the web: the request to `/auth/authorize` (Apple: "Request an authorization to the
/// Sign in with Apple server").
package struct AuthorizationRequest: Sendable {
    /// What the response contains (OAuth 2.0 Multiple Response Types §3). Apple refuses `id_token`
    /// alone.
    package enum ResponseType: String, Sendable, CaseIterable {
        /// An authorization code.
        case code
        /// An authorization code and an identity token.
        case codeAndIdentityToken = "code id_token"
    }

    /// How the response is returned.
    package enum ResponseMode: String, Sendable, CaseIterable {
        /// In the query of the redirect URI.
        case query
        /// In the fragment of the redirect URI, which no server receives.
        case fragment
        /// As a form that the browser posts to the redirect URI.
        case formPost = "form_post"
    }

    /// The data of the user that the client requests; sent at the first consent only.
    package enum Scope: String, Sendable, CaseIterable {
        /// The user's name, which Apple sends at the first sign-in only.
        case name
        /// The address, or the relay address that hides it.
        case email
        /// Sent by OpenID Connect libraries; Apple ignores it.
        case openid
    }

    /// A Services ID: an App ID has no redirect URI.
    package let clientID: ClientID
    /// Where the browser is sent afterwards.
    package let redirectURI: RedirectURI
    /// What the response contains.
    package let responseType: ResponseType
    /// How the response is returned.
    package let responseMode: ResponseMode
    /// The data that the client requests.
    package let scopes: Set<Scope>
    /// Returned unchanged: proves that the response belongs to this browser.
    package let state: SecretText?
    /// Returned in the identity token: proves that the token belongs to this sign-in.
    package let nonce: SecretText?
    /// Binds the exchange to the holder of the verifier.
    package let codeChallenge: CodeChallenge?

    /// Creates a request that Apple accepts.
    ///
    /// - Parameter responseMode: nil chooses `form_post` for the scopes name and email and for an
    ///   identity token, otherwise `query`, so that a server can read the response.
    /// - Throws: ``AuthorizationRequestError``, which names the rule.
    package init(
        clientID: ClientID, redirectURI: RedirectURI, responseType: ResponseType = .code,
        responseMode: ResponseMode? = nil, scopes: Set<Scope> = [], state: SecretText? = nil,
        nonce: SecretText? = nil, codeChallenge: CodeChallenge? = nil
    ) throws(AuthorizationRequestError) {
        let asksForUser = !scopes.isDisjoint(with: [.name, .email])
        let isBare = !asksForUser && responseType == .code
        let mode = responseMode ?? (isBare ? .query : .formPost)
        guard !asksForUser || mode == .formPost else { throw .scopesNeedFormPost }
        guard responseType == .code || mode != .query else { throw .identityTokenInQuery }
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.responseType = responseType
        self.responseMode = mode
        self.scopes = scopes
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
    }

    /// The parameters in the order in which the URL has them.
    package var form: Form {
        let scopes = Scope.allCases.filter(scopes.contains).map(\.rawValue)
        let parameters: [(String, Form.Value?)] = [
            ("client_id", .plain(clientID.rawValue)),
            ("redirect_uri", .plain(redirectURI.description)),
            ("response_type", .plain(responseType.rawValue)),
            ("response_mode", .plain(responseMode.rawValue)),
            ("scope", scopes.isEmpty ? nil : .plain(scopes.joined(separator: " "))),
            ("state", state.map { .secret($0) }), ("nonce", nonce.map { .secret($0) }),
            ("code_challenge", codeChallenge.map { .plain($0.description) }),
            ("code_challenge_method", codeChallenge.map { _ in .plain("S256") }),
        ]
        return Form(parameters.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The URL to open in the browser. It contains state and nonce.
    package func url(at base: BaseURL = .apple) -> SecretText {
        let page = base.url(of: .authorize) + "?"
        let query = form.encoded()
        var url = SecretBuffer(capacity: page.utf8.count + query.count)
        url.append(contentsOf: Array(page.utf8))
        query.withSpan { url.append(contentsOf: $0) }
        return SecretText(url.finished())
    }
}

/// An invalid combination of parameters.
package enum AuthorizationRequestError: Error, Hashable, Sendable {
    /// The scope name or email without `form_post`: both are sent in the body only.
    case scopesNeedFormPost
    /// An identity token in a query, which logs and browser histories keep.
    case identityTokenInQuery
}

extension AuthorizationRequestError: CustomStringConvertible {
    /// The rule that is broken, as a sentence.
    package var description: String {
        switch self {
        // Apple's own sentence on its page.
        case .scopesNeedFormPost:
            "response_mode must be form_post when name or email scope is requested."
        case .identityTokenInQuery:
            "Apple demands response_mode fragment or form_post with response_type 'code id_token'"
        }
    }
}
