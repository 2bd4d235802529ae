/// Validates a refresh token an item.
public struct RefreshJob: BatchJob {
    private var credentials: Credentials
    private let baseURL: BaseURL

    /// Speaks for `client` to the endpoints at `baseURL`.
    public init(_ client: any ClientSecretSource, baseURL: BaseURL = .apple) {
        credentials = Credentials(client)
        self.baseURL = baseURL
    }

    /// The refresh of one token.
    public mutating func request(
        for item: inout TokenItem, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        let secret = try credentials.secret(for: item.clientID, at: now)
        return TokenRequest.refresh(RefreshToken(item.token)).filled(
            for: credentials.clientID(item.clientID), with: secret, at: baseURL)
    }

    /// What Apple said of it.
    public mutating func judge(
        _ response: HTTPResponse, for item: inout TokenItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<TokenResponse>> {
        let verdict = response.verdict(
            hiding: [item.token] + credentials.secrets(for: item.clientID)
        ) {
            TokenResponse($0)
        }
        if case .finished(.refused(let refusal)) = verdict { return .held(.refused(refusal)) }
        return verdict
    }
}
