internal import SignInWithApple

/// The keys by which a batch verifies, fetched once for all its workers.
///
/// ``AppleKeys`` decides when Apple is asked. Here it is kept from being asked for every item:
/// a forged `kid` costs at most one search a minute, and says what there is to say once.
actor BatchKeys {
    private let find: @Sendable (String) async throws -> KeySetCache.Held
    private let now: @Sendable () -> NumericDate
    private let isFinal: Bool
    private var known: KnownKeys?
    private var searchedAt: NumericDate?
    private var search: Task<KnownKeys, any Error>?

    /// - Parameter given: the set of --jwks, by which nobody is asked.
    init(_ verifying: Verifying) {
        find = { keyID in try await verifying.appleKeys().held(for: keyID) }
        now = verifying.session.world.clocks.now
        isFinal = verifying.isOffline
    }

    /// The best that is known of the key of this name.
    ///
    /// - Throws: ``KeySetError`` when there is no key set at all.
    func keys(for keyID: String) async throws -> KnownKeys {
        // Whoever waited for a search takes what came of it.
        if let search { return try await search.value }
        if let known, known.settles(keyID, at: now()) || isSearchVain { return known }
        let search = Task { [find, isFinal] in
            let held = try await find(keyID)
            return KnownKeys(held.keySet, fetchedAt: isFinal ? nil : held.fetchedAt)
        }
        self.search = search
        defer { self.search = nil }
        searchedAt = now()
        let found = try await search.value
        known = found
        return found
    }

    /// Whether the last search is so recent that another would find the same.
    private var isSearchVain: Bool {
        guard let searchedAt else { return false }
        let age = now() - searchedAt
        return .zero <= age && age < KeySetCache.pause
    }
}

/// A key set, and how far it can be relied upon.
struct KnownKeys: Sendable {
    let keySet: KeySet
    /// Nil for a set that no other will replace: it was given, or nobody may be asked.
    private let fetchedAt: NumericDate?

    init(_ keySet: KeySet, fetchedAt: NumericDate?) {
        (self.keySet, self.fetchedAt) = (keySet, fetchedAt)
    }

    /// Whether nobody need be asked about the key of this name.
    func settles(_ keyID: String, at now: NumericDate) -> Bool {
        guard let fetchedAt else { return true }
        return keySet.keys[keyID] != nil && fetchedAt <= now
            && now - fetchedAt < KeySetCache.lifetime
    }

    /// Whether a key that is not in the set is none of Apple's: an older set cannot tell, and
    /// that there is no newer one is the network's fault, not the token's.
    func canCondemn(at now: NumericDate) -> Bool {
        guard let fetchedAt else { return true }
        return now - fetchedAt <= KeySetCache.pause + KeySetCache.pause
    }

    /// When the set was fetched, for messages.
    var age: String { fetchedAt.map { "of \($0.rfc3339)" } ?? "that were given" }
}
