import SIWAJOSE
import SIWALifecycle
internal import Synchronization

/// Apple's keys in memory. A known key is used immediately; an old key set is refreshed in the
/// background, so that no caller waits for Apple.
final class AppleKeySets: Sendable {
    /// Fetches a key set; nil if no profile can reach Apple.
    typealias Fetch = @Sendable () async throws(TokenFailure) -> KeySet?

    private struct State {
        var cache = KeySetCache(pause: KeySetCache.servicePause)
        var fetch: Fetch?
        /// The key set of a file, which replaces Apple's.
        var fixed: KeySet?
    }

    /// The result of looking up the key of a token.
    enum Answer: Sendable {
        /// A set that has the key, or an up-to-date set without it.
        case keySet(KeySet)
        /// The key is unknown, and Apple's keys cannot be fetched now.
        case unavailable
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> NumericDate
    private let fetches = JoinedCalls<Int, Bool>()
    /// Notified when keys were fetched.
    let arrival = WakeSignal()

    /// Fetches the keys when they are first needed.
    init(now: @escaping @Sendable () -> NumericDate, fetch: @escaping Fetch) {
        self.now = now
        state = Mutex(State(fetch: fetch))
    }

    /// Uses the keys of a file.
    init(now: @escaping @Sendable () -> NumericDate, fixed: KeySet) {
        self.now = now
        state = Mutex(State(fixed: fixed))
    }

    /// Replaces the keys of a file.
    func replace(with keySet: KeySet) {
        state.withLock { $0.fixed = keySet }
        arrival.notify()
    }

    /// Replaces the function that fetches the keys.
    func replace(fetching fetch: @escaping Fetch) { state.withLock { $0.fetch = fetch } }

    /// The cached set that has a key; nil if Apple has to be asked.
    func known(holding keyID: String?) -> KeySet? {
        state.withLock { state in
            if let fixed = state.fixed { return fixed }
            guard let keyID else { return nil }
            return state.cache.holds(keyID) ? state.cache.usable(at: now())?.keySet : nil
        }
    }

    /// The set that has a key; fetches it if a fetch is allowed now.
    ///
    /// - Parameter receivedAt: when the token was received, if that is earlier: a set that was
    ///   fetched since then decides about it, even if it lacks the key.
    func answer(holding keyID: String, receivedAt: NumericDate? = nil) async -> Answer {
        if let known = known(holding: keyID) { return .keySet(known) }
        if let receivedAt, let held = usable, held.fetchedAt > receivedAt {
            return .keySet(held.keySet)
        }
        let query = KeySetQuery(holding: keyID, askedAt: now())
        guard state.withLock({ $0.cache.step(for: query, at: now()) }) == .fetch else {
            return .unavailable
        }
        let isFetched = await fetch(for: query)
        if let known = known(holding: keyID) { return .keySet(known) }
        // A set that was fetched just now and lacks the key, for this query or for another.
        guard isFetched, let held = usable else { return .unavailable }
        return .keySet(held.keySet)
    }

    private var usable: KeySetCache.Held? {
        let now = now()
        return state.withLock { $0.cache.usable(at: now) }
    }

    /// The keys for the identity token of an exchange.
    ///
    /// - Parameter keyID: nil for a token that Apple did not sign.
    func keysForExchange(holding keyID: String?) async -> ExchangeVerification.Keys {
        if let fixed = state.withLock({ $0.fixed }) { return .given(fixed) }
        guard let keyID, case .keySet(let keySet) = await answer(holding: keyID) else {
            return .apple(nil)
        }
        return .apple(keySet)
    }

    /// The set that verifies a token; nil if the keys are unavailable, and for a header that Apple
    /// does not write.
    func keySet(for token: CompactJWS) async -> KeySet? {
        guard let keyID = token.verificationKeyID,
            case .keySet(let keySet) = await answer(holding: keyID)
        else { return nil }
        return keySet
    }

    /// The age of Apple's set; nil before the first fetch, and for the set of a file.
    var age: Duration? {
        state.withLock { $0.cache.held }.map { now() - $0.fetchedAt }
    }

    /// Whether the keys come from a file.
    var isFixed: Bool { state.withLock { $0.fixed != nil } }

    /// Fetches the set before it is needed, and refreshes it before it is old. Runs until
    /// cancelled.
    ///
    /// - Parameter warn: called about once an hour with the age of a set that cannot be refreshed
    ///   for a day or more.
    func keepFresh(
        _ timekeeper: Timekeeper, warn: @Sendable (Duration) -> Void = { _ in }
    ) async {
        var pause = Self.firstPause
        var warnedAge = Duration.zero
        while !Task.isCancelled {
            let isDue = !isFixed && (age.map { $0 >= Self.renewal } ?? true)
            let query = KeySetQuery(holding: nil, askedAt: now(), from: .apple)
            let isFetched = isDue ? await fetch(for: query) : true
            if let age, age >= max(KeySetCache.warningAge, warnedAge + Self.warningInterval) {
                warn(age)
                warnedAge = age
            } else if isFetched {
                warnedAge = .zero
            }
            pause = isFetched ? Self.look : min(pause * 2, Self.look)
            try? await timekeeper.sleep(pause)
        }
    }

    private static let warningInterval = Duration.seconds(3600)
    private static let firstPause = Duration.milliseconds(500)
    /// The age at which a set is refreshed, before it expires.
    private static let renewal = KeySetCache.lifetime * 3 / 4
    /// The interval of checks of the age, and the longest wait after a failed fetch.
    private static let look = Duration.seconds(30)

    /// Fetches the set, once for all concurrent callers; returns false if that failed.
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
