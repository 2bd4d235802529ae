internal import JOSE
internal import Lifecycle

/// Apple's public keys, fetched when they are needed and kept in memory.
///
/// ``KeySetCache`` decides when to fetch. Concurrent calls share a fetch.
actor KeySource {
    private var cache = KeySetCache()
    private var fetch: Task<TokenFailure?, Never>?
    private var lastFailure: TokenFailure?

    /// A key set with the key `keyID`, or the newest one if the key is not available.
    ///
    /// - Throws: ``TokenFailure`` if no key set is available.
    func keySet(
        holding keyID: String, from client: KeySetClient, clocks: Clocks
    ) async throws(TokenFailure) -> KeySet {
        let query = KeySetQuery(holding: keyID, askedAt: clocks.now())
        if cache.step(for: query, at: query.askedAt) == .fetch {
            lastFailure = await fetched(query, from: client, clocks)
        }
        if let held = cache.held { return held.keySet }
        throw lastFailure
            ?? TokenFailure(
                cause: .unreachable(
                    Lifecycle.TransportError(
                        .unavailable, "no keys were fetched", requestMayHaveLeft: false)),
                request: .keySet, attempts: 0)
    }

    /// Fetches the keys, or waits for the current fetch; nil if it succeeded.
    private func fetched(
        _ query: KeySetQuery, from client: KeySetClient, _ clocks: Clocks
    ) async -> TokenFailure? {
        if let fetch { return await fetch.value }
        let fetch = Task { await update(for: query, from: client, clocks) }
        self.fetch = fetch
        defer { self.fetch = nil }
        return await fetch.value
    }

    private func update(
        for query: KeySetQuery, from client: KeySetClient, _ clocks: Clocks
    ) async -> TokenFailure? {
        do throws(TokenFailure) {
            let keySet = try await client.fetch().keySet
            cache.adopt(keySet, for: query, at: clocks.now())
            return nil
        } catch {
            cache.note(error, at: clocks.now())
            return error
        }
    }
}
