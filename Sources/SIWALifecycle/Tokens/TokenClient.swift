package import SIWAJOSE

/// A client of Apple's token endpoints.
package struct TokenClient: Sendable {
    private let secrets: ClientSecretCache
    private let baseURL: BaseURL
    private let delivery: Delivery
    /// The client of the requests; nil for that of the source.
    private let clientID: ClientID?

    /// Sends requests as `client` to the endpoints at `baseURL`.
    package init(client: any ClientSecretSource, baseURL: BaseURL = .apple, delivery: Delivery) {
        self.init(ClientSecretCache(client), baseURL: baseURL, delivery: delivery)
    }

    /// Sends requests with secrets that several clients share.
    ///
    /// - Parameter clientID: the client of the requests; nil for that of the secrets' source.
    package init(
        _ secrets: ClientSecretCache, for clientID: ClientID? = nil, baseURL: BaseURL,
        delivery: Delivery
    ) {
        (self.secrets, self.clientID) = (secrets, clientID)
        (self.baseURL, self.delivery) = (baseURL, delivery)
    }

    /// The same client with another delivery; both share the client_secrets.
    package func delivering(through delivery: Delivery) -> Self {
        Self(secrets, for: clientID, baseURL: baseURL, delivery: delivery)
    }

    /// Exchanges a code for tokens. The request is sent at most once, unless it certainly did not
    /// leave.
    package func exchange(
        _ code: AuthorizationCode, redirectURI: String? = nil, codeVerifier: CodeVerifier? = nil
    ) async throws(TokenFailure) -> TokenResponse {
        do {
            return try await send(
                .exchange(code, redirectURI: redirectURI, codeVerifier: codeVerifier)
            ) { TokenResponse($0) }
        } catch {
            throw error.noting(look(of: code.text, for: .exchange))
        }
    }

    /// Validates a refresh token and gets a new access token.
    package func refresh(_ token: RefreshToken) async throws(TokenFailure) -> TokenResponse {
        do {
            return try await send(.refresh(token)) { TokenResponse($0) }
        } catch {
            throw error.noting(look(of: token.text, for: .refresh))
        }
    }

    /// Gets an access token of the team, which is valid only for user migration.
    package func teamToken() async throws(TokenFailure) -> TokenResponse {
        try await send(.clientCredentials) { TokenResponse($0) }
    }

    /// The request that would be sent, and its form, for a dry run.
    ///
    /// - Throws: ``ClientSecretError``.
    package func draft(
        _ request: TokenRequest, at now: NumericDate
    ) async throws(ClientSecretError) -> (request: HTTPRequest, form: Form) {
        try await delivery.preparing(preparation)
        let form = try secrets.form(of: request, for: clientID, at: now)
        return (request.carrying(form, to: baseURL), form)
    }

    /// Waits for a client_secret, so that a signer that does not sign is found before anything is
    /// begun.
    package func prepare(_ kind: RequestKind) async throws(TokenFailure) {
        do throws(ClientSecretError) {
            try await delivery.preparing(preparation)
        } catch {
            throw TokenFailure(cause: .unminted(error), request: kind, attempts: 1)
        }
    }

    private var preparation: Delivery.Preparation {
        { deadline, clocks throws(ClientSecretError) in
            try await secrets.prepare(for: clientID, until: deadline, by: clocks)
        }
    }

    func send<Answer: Sendable>(
        _ request: TokenRequest, read: @escaping @Sendable (HTTPResponse) -> Answer?
    ) async throws(TokenFailure) -> Answer {
        try await send(
            request.kind, isRepeatable: request.isRepeatable,
            compose: { request.carrying(request.form(of: $0), to: baseURL) }, read: read)
    }

    private func send<Answer: Sendable>(
        _ kind: RequestKind, isRepeatable: Bool,
        compose: @escaping @Sendable (ClientParameters) -> HTTPRequest,
        read: @escaping @Sendable (HTTPResponse) -> Answer?
    ) async throws(TokenFailure) -> Answer {
        try await delivery.carryOut(
            Delivery.Order(
                kind: kind, isRepeatable: isRepeatable,
                prepare: preparation,
                compose: { now throws(ClientSecretError) in
                    compose(try secrets.parameters(of: clientID, at: now))
                },
                read: read))
    }

    /// Asks about one user during a transfer between teams.
    ///
    /// - Parameter bearer: the access token of ``teamToken()``.
    package func migrate(
        _ question: MigrationRequest, bearer: SecretText
    ) async throws(TokenFailure) -> MigratedUser {
        try await send(
            question.kind, isRepeatable: true,
            compose: { question.carrying(question.form(of: $0), bearer: bearer, to: baseURL) },
            read: { MigratedUser($0, to: question) })
    }
}

extension TokenRequest {
    func carrying(_ form: Form, to baseURL: BaseURL) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: baseURL.url(of: endpoint),
            fields: formFields,
            body: form.encoded(), isRepeatable: isRepeatable, secrets: form.secrets)
    }
}

let formFields = commonFields + [HTTPField("Content-Type", Form.contentType)]

/// The header fields of every request. According to reports, Apple refuses clients without a
/// User-Agent.
let commonFields = [
    HTTPField("Accept", "application/json"), HTTPField("User-Agent", "siwa/\(version)"),
]
