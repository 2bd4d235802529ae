package import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem

/// Apple's key set, from this machine's cache or from Apple.
package struct AppleKeySource: Sendable {
    private let network: AppleConnection
    private let isOffline: Bool

    /// - Parameter isOffline: uses only the cache, never the network.
    package init(_ network: AppleConnection, isOffline: Bool = false) {
        self.network = network
        self.isOffline = isOffline
    }

    /// A set that contains `kid`, or the newest set if none does.
    package func keySet(holding kid: String?) async throws(KeySetError) -> KeySet {
        try await held(for: kid).keySet
    }

    /// The same set, and when it was fetched.
    package func held(for kid: String?) async throws(KeySetError) -> KeySetCache.Held {
        try await search(kid, from: isOffline ? .cache : .any).held
    }

    /// The newest set, with details.
    ///
    /// - Parameter isForced: fetches it from Apple even if the cache is fresh.
    package func newest(isForced: Bool) async throws(KeySetError) -> FoundKeySet {
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
package struct FoundKeySet: Sendable {
    package let held: KeySetCache.Held
    /// Whether it has expired.
    package let isStale: Bool
    /// The differences from the previous set; nil if this call did not fetch it.
    package let change: KeySetCache.Change?
    /// When each `kid` was first seen.
    package let firstSeen: [String: NumericDate]
    /// The `kid`s that were known before this call.
    package let knownBefore: Set<String>
    /// Apple's id of the request that fetched it; nil if this call did not fetch it.
    package let requestID: String?
}
