internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// The keys by which a batch verifies, fetched once for all its workers.
///
/// ``AppleKeySource`` decides when keys are fetched. This type avoids a search for every item: forged
/// `kid`s cause at most one search per minute, and one message.
actor BatchKeys {
    private let find: @Sendable (String) async throws -> KeySetCache.Held
    private let now: @Sendable () -> NumericDate
    private let isFinal: Bool
    private var known: KnownKeys?
    /// When a search last found no key.
    private var missedAt: NumericDate?
    private var search: Task<Void, any Error>?

    init(_ verifying: Verifying) {
        find = { keyID in try await verifying.appleKeys().held(for: keyID) }
        now = verifying.session.world.clocks.now
        isFinal = verifying.isOffline
    }

    /// The known keys, after a search for this `kid` if it is needed.
    ///
    /// - Throws: ``KeySetError`` if no key set is available.
    func keys(for keyID: String) async throws -> KnownKeys {
        while true {
            if let known, known.settles(keyID, at: now()) || hasJustMissed { return known }
            // If a search is running, wait for it and check again: it may be for another key.
            let search = search ?? Task { try await look(for: keyID) }
            self.search = search
            try await search.value
        }
    }

    private func look(for keyID: String) async throws {
        defer { search = nil }
        let held = try await find(keyID)
        let found = KnownKeys(held.keySet, fetchedAt: isFinal ? nil : held.fetchedAt)
        if !found.settles(keyID, at: now()) { missedAt = now() }
        known = found
    }

    /// Whether another search would find what the last one found.
    private var hasJustMissed: Bool {
        guard let missedAt else { return false }
        let age = now() - missedAt
        return .zero <= age && age < KeySetCache.commandPause
    }
}

/// A key set, and the time of its fetch.
struct KnownKeys: Sendable {
    let keySet: KeySet
    /// Nil for a set that is final: it was given, or --offline prevents requests.
    private let fetchedAt: NumericDate?

    init(_ keySet: KeySet, fetchedAt: NumericDate?) {
        (self.keySet, self.fetchedAt) = (keySet, fetchedAt)
    }

    /// Whether no request is needed for this `kid`.
    func settles(_ keyID: String, at now: @autoclosure () -> NumericDate) -> Bool {
        guard let fetchedAt else { return true }
        let now = now()
        return keySet[keyID] != nil && fetchedAt <= now
            && now - fetchedAt < KeySetCache.lifetime
    }

    /// Whether a key that is not in the set is certainly not Apple's: an older set may lack a new
    /// key, and a failed fetch does not make a token invalid.
    func canRefuse(at now: @autoclosure () -> NumericDate) -> Bool {
        guard let fetchedAt else { return true }
        return now() - fetchedAt <= KeySetCache.commandPause + KeySetCache.commandPause
    }

    /// When the set was fetched, for messages.
    var age: String { fetchedAt.map { "of \($0.rfc3339)" } ?? "that were given" }
}
