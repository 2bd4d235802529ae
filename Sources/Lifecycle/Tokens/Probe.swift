/// Requests that only test: they use nothing up and change nothing.
package struct Probe: Sendable {
    private let baseURL: BaseURL
    private let delivery: Delivery

    /// Speaks to the endpoints at `baseURL`.
    package init(baseURL: BaseURL = .apple, delivery: Delivery) {
        self.baseURL = baseURL
        self.delivery = delivery
    }

    /// What Apple thinks of a client_secret.
    package enum Verdict: Sendable {
        /// A token came: secret and client are good.
        case accepted
        /// `invalid_client`: they are not.
        case refused(TokenFailure)
        /// Another answer, or no answer, which proves neither.
        case unknown(TokenFailure)
    }

    /// Asks for a team token with `secret`, no matter who minted it.
    ///
    /// A made-up code would prove nothing: Apple looks the code up before the secret. This grant
    /// has no code to look up; whether Apple grants it to every team is not documented.
    package func verdict(on secret: SecretText, for clientID: ClientID) async -> Verdict {
        let request = TokenRequest.clientCredentials
        let message = request.carrying(
            request.form(clientID: clientID, clientSecret: secret), to: baseURL)
        let order = Delivery.Order(
            kind: request.kind, isRepeatable: true,
            compose: { _ in message }, read: { TokenResponse($0).map { _ in true } })
        do {
            _ = try await delivery.carryOut(order)
            return .accepted
        } catch {
            guard case .refused(let refusal) = error.cause, refusal.code == .invalidClient else {
                return .unknown(error)
            }
            return .refused(error)
        }
    }

    /// Fetches the key set and returns the whole response, even a refusal: it shows the way to
    /// Apple, and Apple's clock.
    package func keys() async throws(TokenFailure) -> HTTPResponse {
        let request = HTTPRequest(method: .get, url: baseURL.url(of: .keys), fields: commonFields)
        return try await delivery.carryOut(
            Delivery.Order(
                kind: .keySet, isRepeatable: true,
                compose: { _ in request }, read: { $0 }))
    }
}
