/// A request about tokens.
package enum TokenRequest: Sendable {
    /// Exchanges an authorization code for tokens. `redirectURI` only for a code of a sign-in on
    /// the web; `codeVerifier` only if the sign-in had a code challenge.
    case exchange(AuthorizationCode, redirectURI: String?, codeVerifier: CodeVerifier?)
    /// Validates a refresh token and gets a new access token.
    case refresh(RefreshToken)
    /// Ends the session a token belongs to (RFC 7009).
    case revoke(SecretText, TokenKind)
    /// Gets a token of the team itself, for the migration of users (Apple: "Transferring your
    /// apps and users to another team").
    case clientCredentials

    /// The endpoint of Apple to which it is posted.
    package var endpoint: Endpoint {
        switch self {
        case .exchange, .refresh, .clientCredentials: .token
        case .revoke: .revoke
        }
    }

    /// Whether sending it twice does no harm. A code works once: its second use is refused even if
    /// the answer to the first was lost.
    package var isRepeatable: Bool {
        if case .exchange = self { false } else { true }
    }

    /// The kind of the request.
    package var kind: RequestKind {
        switch self {
        case .exchange: .exchange
        case .refresh: .refresh
        case .revoke: .revocation
        case .clientCredentials: .teamToken
        }
    }

    /// The form of the request (Apple: "Token validation", "Token revocation").
    package func form(clientID: ClientID, clientSecret: SecretText) -> Form {
        form(of: ClientParameters(clientID, clientSecret))
    }

    func form(of client: ClientParameters) -> Form { Form(of: client, ownParameters) }

    private var ownParameters: [Form.Parameter] {
        switch self {
        case .exchange(let code, let redirectURI, let verifier):
            [.init("grant_type", .plain("authorization_code")), .init("code", .secret(code.text))]
                + (redirectURI.map { [.init("redirect_uri", .plain($0))] } ?? [])
                + (verifier.map { [.init("code_verifier", .secret($0.text))] } ?? [])
        case .refresh(let token):
            [
                .init("grant_type", .plain("refresh_token")),
                .init("refresh_token", .secret(token.text)),
            ]
        case .revoke(let token, let kind):
            [.init("token", .secret(token)), .init("token_type_hint", .plain(kind.rawValue))]
        case .clientCredentials:
            [
                .init("grant_type", .plain("client_credentials")),
                .init("scope", .plain("user.migration")),
            ]
        }
    }
}

/// The kinds of token that can be revoked: `token_type_hint` (RFC 7009 §2.1).
package enum TokenKind: String, Sendable, CaseIterable {
    /// A refresh token.
    case refreshToken = "refresh_token"
    /// An access token.
    case accessToken = "access_token"
}
