package import SIWAJOSE

/// Fetches the keys that sign identity tokens and notifications (Apple: "Fetch Apple's public
/// key for verifying token signature").
package struct KeySetClient: Sendable {
    private let baseURL: BaseURL
    private let delivery: Delivery

    /// Sends requests to the endpoint at `baseURL`.
    package init(baseURL: BaseURL = .apple, delivery: Delivery) {
        self.baseURL = baseURL
        self.delivery = delivery
    }

    /// Fetches the key set.
    ///
    /// - Returns: the set, and Apple's id of the request; nil if Apple sent none.
    package func fetch() async throws(TokenFailure) -> (keySet: KeySet, requestID: String?) {
        let request = HTTPRequest(method: .get, url: baseURL.url(of: .keys), fields: commonFields)
        return try await delivery.carryOut(
            Delivery.Order(
                kind: .keySet, isRepeatable: true,
                compose: { _ in request },
                read: { response in
                    KeySet(response.body).map { ($0, response.requestID) }
                }))
    }
}
