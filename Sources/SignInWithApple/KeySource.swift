internal import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// Apple's public keys, fetched when they are needed and kept in memory.
///
/// ``KeySetCache`` decides when to fetch. Concurrent calls share a fetch, which has its own time
/// limit: a call that leaves, because it was cancelled or its time is over, does not end it.
actor KeySource {
    private var cache = KeySetCache(pause: KeySetCache.servicePause) {
        didSet { current.withLock { [held = cache.held] in $0 = held } }
    }
    /// The newest set, which needs no actor: most calls find it fresh.
    private nonisolated let current = Mutex<KeySetCache.Held?>(nil)
    private var isFetching = false
    private var lastFailure: TokenFailure?
    /// Notified when a fetch has ended.
    private let ended = WakeSignal()
    private let observer: Observer
    private let store: SharedKeySet?

    init(_ observer: Observer, _ store: SharedKeySet?) {
        (self.observer, self.store) = (observer, store)
    }

    /// No key set is available.
    struct Unavailable: Error, CustomStringConvertible {
        /// Why not.
        let failure: TokenFailure
        /// The rest of the pause after an unsuccessful fetch; nil without a pause.
        let retryAfter: Duration?

        var description: String { "Apple's keys are unavailable: \(failure)" }
    }

    /// A key set with the key `keyID`, or one that was fetched for this call and lacks it: then
    /// Apple does not have the key.
    ///
    /// - Parameters:
    ///   - keyID: nil if any set will do.
    ///   - deadline: how long the call waits.
    ///   - client: fetches the keys, until a deadline of its own.
    func keySet(
        holding keyID: String?, until deadline: Deadline, from client: KeySetClient,
        clocks: Clocks
    ) async throws(Unavailable) -> KeySet {
        let query = KeySetQuery(holding: keyID, askedAt: clocks.now())
        var isDecided = false
        if cache.step(for: query, at: query.askedAt) == .fetch {
            let count = ended.count
            let isOwn = startFetch(for: query, from: client, clocks)
            await ended.wait(
                after: count, atMost: patience(for: query, deadline, clocks),
                by: clocks.timekeeper)
            // A fetch that began before this call may have missed a new key.
            isDecided = isOwn && ended.count > count && lastFailure == nil
        }
        guard let held = cache.usable(at: clocks.now()), isDecided || cache.holds(keyID) else {
            throw unavailable(at: clocks.now())
        }
        if !cache.isFresh(at: clocks.now()) {
            observer.tell(.keysStale, duration: clocks.now() - held.fetchedAt)
        }
        return held.keySet
    }

    /// A fresh set with the key `keyID`; nil if there is none yet.
    nonisolated func fresh(holding keyID: String?, at now: NumericDate) -> KeySet? {
        current.withLock { held in
            guard let held, held.isFresh(at: now),
                keyID.map({ held.keySet[$0] != nil }) ?? true
            else { return nil }
            return held.keySet
        }
    }

    /// The age of the key set; nil before the first fetch.
    func age(at now: NumericDate) -> Duration? { cache.held.map { now - $0.fetchedAt } }

    /// An old set that has the key is used unless a new one arrives soon.
    private func patience(
        for query: KeySetQuery, _ deadline: Deadline, _ clocks: Clocks
    ) -> Duration {
        let isReplaceable = cache.usable(at: clocks.now()) != nil && cache.holds(query.keyID)
        return isReplaceable ? min(deadline.remaining, .seconds(2)) : deadline.remaining
    }

    private func unavailable(at now: NumericDate) -> Unavailable {
        let failure: TokenFailure =
            if Task.isCancelled {
                .unfetched(.cancelled, "the task was cancelled")
            } else if isFetching {
                .unfetched(.timeout, "they did not arrive in time")
            } else {
                lastFailure ?? .unfetched(.unavailable, "the last fetch was a moment ago")
            }
        let pause = cache.pausedUntil.map { $0 - now }.flatMap { $0 > .zero ? $0 : nil }
        return Unavailable(
            failure: failure, retryAfter: failure.cause.retryAfter(at: now) ?? pause)
    }

    /// Starts a fetch; false if one is running.
    private func startFetch(
        for query: KeySetQuery, from client: KeySetClient, _ clocks: Clocks
    ) -> Bool {
        guard !isFetching else { return false }
        isFetching = true
        Task {
            await loadOrFetch(for: query, from: client, clocks)
            isFetching = false
            ended.notify()
        }
        return true
    }

    /// Another process may have fetched a set that has the key.
    private func loadOrFetch(
        for query: KeySetQuery, from client: KeySetClient, _ clocks: Clocks
    ) async {
        if let stored = await store?.load() {
            cache.adopt(newerSetOf: stored, at: clocks.now())
            guard cache.step(for: query, at: clocks.now()) == .fetch else {
                lastFailure = nil
                return
            }
        }
        do throws(TokenFailure) {
            cache.adopt(try await client.fetch().keySet, for: query, at: clocks.now())
            lastFailure = nil
            observer.tell(.keysFetched)
            if let store { Task { [cache] in await store.save(cache) } }
        } catch {
            cache.note(error, at: clocks.now())
            lastFailure = error
        }
    }
}

extension TokenFailure {
    /// A fetch of keys without an answer.
    fileprivate static func unfetched(
        _ kind: SIWALifecycle.TransportError.Kind, _ message: String
    ) -> Self {
        Self(
            cause: .unreachable(
                SIWALifecycle.TransportError(kind, message, requestMayHaveLeft: false)),
            request: .keySet, attempts: 0)
    }
}

/// A ``KeySetStore`` whose failures delay nobody for long.
struct SharedKeySet: Sendable {
    private let store: any KeySetStore
    private let origin: BaseURL
    private let observer: Observer
    private let timekeeper: Timekeeper

    private static let patience = Duration.seconds(2)

    init(
        _ store: any KeySetStore, of origin: BaseURL, _ observer: Observer, _ timekeeper: Timekeeper
    ) {
        (self.store, self.origin) = (store, origin)
        (self.observer, self.timekeeper) = (observer, timekeeper)
    }

    /// What another process saved; nil if there is nothing, or it cannot be read.
    func load() async -> KeySetCache? {
        let text = await outcome { store in try await store.load() }
        return text.flatMap { $0 }.flatMap { KeySetCache(Array($0.utf8), for: origin) }
    }

    func save(_ cache: KeySetCache) async {
        let text = String(decoding: cache.bytes(for: origin), as: UTF8.self)
        _ = await outcome { store in try await store.save(text) }
    }

    private func outcome<Value: Sendable>(
        _ body: @escaping @Sendable (any KeySetStore) async throws -> Value
    ) async -> Value? {
        let result = await bounded(by: Self.patience, timekeeper) { [store] in
            try? await body(store)
        }
        guard let value = result.value ?? nil else {
            observer.tell(.keySetStoreFailed)
            return nil
        }
        return value
    }
}
