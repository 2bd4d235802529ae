internal import JOSE
internal import Lifecycle
internal import LocalFiles

/// Apple's key set, from this machine's cache or from Apple.
struct AppleKeys: Sendable {
    private let network: Network
    private let isOffline: Bool

    /// - Parameter isOffline: uses only the cache, never the network.
    init(_ network: Network, isOffline: Bool = false) {
        self.network = network
        self.isOffline = isOffline
    }

    /// A set that contains `kid`, or the newest set if none does.
    func keySet(holding kid: String?) async throws(KeySetError) -> KeySet {
        try await held(for: kid).keySet
    }

    /// The same set, and when it was fetched.
    func held(for kid: String?) async throws(KeySetError) -> KeySetCache.Held {
        try await search(kid, from: isOffline ? .cache : .any).held
    }

    /// The newest set, with details.
    ///
    /// - Parameter isForced: fetches it from Apple even if the cache is fresh.
    func newest(isForced: Bool) async throws(KeySetError) -> FoundKeySet {
        try await search(nil, from: isForced ? .apple : .any)
    }

    private func search(
        _ kid: String?, from source: KeySetQuery.Source
    ) async throws(KeySetError) -> FoundKeySet {
        let now = network.session.world.clocks.now()
        var search = KeySetSearch(.init(holding: kid, askedAt: now, from: source), network)
        let found = try await search.run()
        network.session.world.metrics.note { $0.keySetFetchedAt = found.held.fetchedAt }
        return found
    }
}

/// A key set with details.
struct FoundKeySet: Sendable {
    let held: KeySetCache.Held
    /// Whether it has expired.
    let isStale: Bool
    /// The differences from the previous set; nil if this call did not fetch it.
    let change: KeySetCache.Change?
    /// When each `kid` was first seen.
    let firstSeen: [String: NumericDate]
    /// The `kid`s that were known before this call.
    let knownBefore: Set<String>
    /// Apple's id of the request that fetched it; nil if this call did not fetch it.
    let requestID: String?
}
