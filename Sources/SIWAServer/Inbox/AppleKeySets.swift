package import JOSE
package import Lifecycle
internal import Synchronization

/// Apple's keys in memory. A key that is known is used at once; what is old is fetched anew in the
/// background, so that nobody waits for Apple.
package final class AppleKeySets: Sendable {
    /// Fetches a key set; nil if nobody can be asked.
    package typealias Fetch = @Sendable () async throws(TokenFailure) -> KeySet?

    private struct State {
        var cache = KeySetCache()
        var fetch: Fetch?
        /// The set of a file, which replaces Apple's.
        var fixed: KeySet?
    }

    /// What is known about the key of a token.
    package enum Answer: Sendable {
        /// A set that has the key, or whose lack of it is final.
        case keySet(KeySet)
        /// The key is unknown, and Apple's keys cannot be had now.
        case unavailable
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> NumericDate
    private let fetches = JoinedCalls<Int, Bool>()
    /// Notified when keys came.
    package let arrival = WakeSignal()

    /// Fetches the keys when they are first needed.
    package init(now: @escaping @Sendable () -> NumericDate, fetch: @escaping Fetch) {
        self.now = now
        state = Mutex(State(fetch: fetch))
    }

    /// Uses the keys of a file.
    package init(now: @escaping @Sendable () -> NumericDate, fixed: KeySet) {
        self.now = now
        state = Mutex(State(fixed: fixed))
    }

    /// Uses other keys of a file from now on.
    package func replace(with keySet: KeySet) {
        state.withLock { $0.fixed = keySet }
        arrival.notify()
    }

    /// Fetches with other settings from now on.
    package func replace(fetching fetch: @escaping Fetch) { state.withLock { $0.fetch = fetch } }

    /// The set that has a key, if it is at hand; nil if Apple has to be asked.
    package func known(holding keyID: String?) -> KeySet? {
        state.withLock { state in
            if let fixed = state.fixed { return fixed }
            guard let keyID else { return nil }
            return state.cache.holds(keyID) ? state.cache.held?.keySet : nil
        }
    }

    /// The set that has a key; asks Apple if that is allowed now.
    package func answer(holding keyID: String) async -> Answer {
        if let known = known(holding: keyID) { return .keySet(known) }
        let query = KeySetQuery(holding: keyID, askedAt: now())
        guard state.withLock({ $0.cache.step(for: query, at: now()) }) == .fetch else {
            return .unavailable
        }
        let isFetched = await fetch(for: query)
        if let known = known(holding: keyID) { return .keySet(known) }
        // What was fetched just now and lacks the key was fetched for this query or for another.
        guard isFetched, let held = state.withLock({ $0.cache.held }) else { return .unavailable }
        return .keySet(held.keySet)
    }

    /// The set that verifies a token; nil if the keys cannot be had, and for a header that Apple
    /// does not write.
    package func keySet(for token: CompactJWS) async -> KeySet? {
        guard let keyID = token.verificationKeyID,
            case .keySet(let keySet) = await answer(holding: keyID)
        else { return nil }
        return keySet
    }

    /// The age of the set; nil without one, and for one of a file.
    package var age: Duration? {
        state.withLock { $0.cache.held }.map { now() - $0.fetchedAt }
    }

    /// Whether the keys come from a file.
    package var isFixed: Bool { state.withLock { $0.fixed != nil } }

    /// Fetches the set before it is needed, and anew before it is old. Runs until it is cancelled.
    func keepFresh(_ timekeeper: Timekeeper) async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            let isDue = !isFixed && (age.map { $0 >= Self.renewal } ?? true)
            let query = KeySetQuery(holding: nil, askedAt: now(), from: .apple)
            let isFetched = isDue ? await fetch(for: query) : true
            pause = isFetched ? Self.look : min(pause * 2, Self.look)
            try? await timekeeper.sleep(pause)
        }
    }

    private static let firstPause = Duration.milliseconds(500)
    /// Before a set stops to be fresh.
    private static let renewal = KeySetCache.lifetime * 3 / 4
    /// Between two looks at the age, and the longest wait after a fetch that failed.
    private static let look = Duration.seconds(30)

    /// Fetches the set, once for all who ask at the same time; false if that failed.
    private func fetch(for query: KeySetQuery) async -> Bool {
        guard let fetch = state.withLock({ $0.fetch }) else { return false }
        return await fetches.join(0) { [self] in
            do throws(TokenFailure) {
                guard let keySet = try await fetch() else { return false }
                state.withLock { _ = $0.cache.adopt(keySet, for: query, at: now()) }
                arrival.notify()
                return true
            } catch {
                state.withLock { $0.cache.note(error, at: now()) }
                return false
            }
        }
    }
}
