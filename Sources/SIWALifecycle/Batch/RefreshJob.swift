package import SIWAJOSE

/// Validates the refresh token of each item.
package struct RefreshJob: BatchJob {
    private let secrets: ClientSecretCache
    private let baseURL: BaseURL

    /// Sends requests as `client` to the endpoints at `baseURL`.
    package init(_ client: any ClientSecretSource, baseURL: BaseURL = .apple) {
        self.init(ClientSecretCache(client), baseURL: baseURL)
    }

    /// Sends requests with these secrets.
    package init(_ secrets: ClientSecretCache, baseURL: BaseURL) {
        self.secrets = secrets
        self.baseURL = baseURL
    }

    /// The refresh of one token.
    package mutating func request(
        for item: inout TokenItem, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        let request = TokenRequest.refresh(RefreshToken(item.token))
        return request.carrying(
            try secrets.form(of: request, for: item.clientID, at: now), to: baseURL)
    }

    /// Reads a new access token.
    package func read(_ response: HTTPResponse, for item: TokenItem) -> TokenResponse? {
        TokenResponse(response)
    }

    /// A refusal is held: it may concern all tokens.
    package mutating func conclude(
        _ answer: ItemOutcome<TokenResponse>, for item: inout TokenItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<TokenResponse>> {
        switch answer {
        case .done: .finished(answer)
        case .refused: .held(answer)
        }
    }
}
