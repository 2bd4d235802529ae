internal import SignInWithApple

/// Apple's key set, from where it can be had at the least cost.
struct AppleKeys: Sendable {
    private let source: KeySetClient

    init(_ network: Network) {
        source = KeySetClient(baseURL: network.baseURL, delivery: network.delivery)
    }

    /// A set that holds `kid`, if one can be had; else the newest there is.
    func keySet(holding kid: String?) async throws(RequestError) -> KeySet {
        do {
            return try await source.fetch()
        } catch {
            throw RequestError(failure: error, situation: nil)
        }
    }
}
