/// Requests that test a client without changing anything.
package struct Probe: Sendable {
    private let baseURL: BaseURL
    private let delivery: Delivery

    /// Sends requests to the endpoints at `baseURL`.
    package init(baseURL: BaseURL = .apple, delivery: Delivery) {
        self.baseURL = baseURL
        self.delivery = delivery
    }

    /// Apple's verdict on a client_secret.
    package enum Verdict: Sendable {
        /// Apple issued a token: secret and client are valid.
        case accepted
        /// `invalid_client`: the secret or the client is invalid.
        case refused(TokenFailure)
        /// Another answer or no answer, which proves nothing.
        case unknown(TokenFailure)
    }

    /// Requests a team token with `secret`.
    ///
    /// An invented code would prove nothing, because Apple checks the code before the secret. This
    /// grant has no code. It is not documented whether Apple grants it to every team.
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

    /// Fetches the key set and returns the whole response, even a refusal: it shows that Apple can
    /// be reached, and Apple's time.
    package func keys() async throws(TokenFailure) -> HTTPResponse {
        let request = HTTPRequest(method: .get, url: baseURL.url(of: .keys), fields: commonFields)
        return try await delivery.carryOut(
            Delivery.Order(
                kind: .keySet, isRepeatable: true,
                compose: { _ in request }, read: { $0 }))
    }
}
