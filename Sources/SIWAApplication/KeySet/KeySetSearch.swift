internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// One search for Apple's key set.
///
/// ``KeySetCache`` decides what to do. If the cache cannot be used, the keys are fetched.
struct KeySetSearch {
    private let query: KeySetQuery
    private let network: AppleConnection
    private let world: World
    private let console: Console
    private let store: KeySetFile?
    private var cache = KeySetCache()
    private let knownBefore: Set<String>

    init(_ query: KeySetQuery, _ network: AppleConnection) {
        self.query = query
        self.network = network
        world = network.session.world
        console = network.session.console
        var store: KeySetFile?
        do throws(KeySetFileFault) {
            store = try KeySetFile(network)
            if let kept = try store?.load() { cache = kept }
        } catch {
            console.warn(error)
        }
        self.store = store
        knownBefore = Set(cache.firstSeen.keys)
    }

    mutating func run() async throws(KeySetError) -> FoundKeySet {
        var step = step
        guard step == .fetch else { return try settle(step) }
        guard case .acquired(let lock) = await acquireLock() else { return try useStale(.busy) }
        defer { lock?.release() }
        // The previous holder of the lock may have fetched the wanted key.
        if let newer = try? store?.load() { cache = newer }
        step = self.step
        guard step == .fetch else { return try settle(step) }
        do throws(TokenFailure) {
            return try await fetch()
        } catch {
            return try useStale(.request(RequestError(failure: error, context: nil)))
        }
    }

    private var step: KeySetCache.Step { cache.step(for: query, at: world.clocks.now()) }

    /// Fetches the set, and stores it before any message is printed, because standard error may be
    /// a closed pipe.
    private mutating func fetch() async throws(TokenFailure) -> FoundKeySet {
        let client = KeySetClient(baseURL: network.baseURL, delivery: network.delivery)
        let (keySet, requestID): (KeySet, String?)
        do {
            (keySet, requestID) = try await client.fetch()
        } catch {
            cache.note(error, at: world.clocks.now())
            save()
            throw error
        }
        let change = cache.change(to: keySet)
        let held = cache.adopt(keySet, for: query, at: world.clocks.now())
        save()
        console.note(change)
        console.note(keySet.ignored)
        return found(held, change, requestID)
    }

    private func save() {
        do throws(KeySetFileFault) {
            try store?.save(cache)
        } catch {
            console.warn(error)
        }
    }
}

// Waiting.
extension KeySetSearch {
    private enum LockResult {
        /// This process fetches; without a lock if the file system has no locks.
        case acquired(FileLock?)
        /// Another process fetches, and is not finished in time.
        case heldByOther
    }

    /// Whether no stored key set can be used instead of a new one.
    private var isNeeded: Bool {
        query.source == .apple || cache.usable(at: world.clocks.now()) == nil
    }

    /// Waits until no other process fetches; longer if no stored key set can be used instead.
    private func acquireLock() async -> LockResult {
        guard let store else { return .acquired(nil) }
        let timekeeper = network.timekeeper
        let left = network.deadline.remaining
        let deadline = Deadline(
            after: isNeeded ? left : min(left, .seconds(2)), by: timekeeper)
        while true {
            do throws(KeySetFileFault) {
                if let lock = try store.tryLock() { return .acquired(lock) }
            } catch {
                return .acquired(nil)
            }
            // A random pause, because hundreds of processes may be waiting.
            let pause = Duration.milliseconds(Int.random(in: 20...60))
            guard deadline.remaining > pause, (try? await timekeeper.sleep(pause)) != nil
            else { return .heldByOther }
        }
    }
}

// The results of a search.
extension KeySetSearch {
    /// The result without a request to Apple.
    private func settle(_ step: KeySetCache.Step) throws(KeySetError) -> FoundKeySet {
        if step == .use, let held = cache.held { return found(held) }
        return try useStale(
            query.source == .cache ? .offline : .paused(until: cache.pausedUntil ?? query.askedAt))
    }

    /// Returns the key set that is available, and explains why it is old or incomplete.
    private func useStale(_ obstacle: KeySetError) throws(KeySetError) -> FoundKeySet {
        guard let kept = cache.held, query.source != .apple else { throw obstacle }
        guard let held = cache.usable(at: world.clocks.now()) else {
            throw .tooOld(fetchedAt: kept.fetchedAt, reason: Diagnosis(obstacle).message)
        }
        let found = found(held)
        if case .offline = obstacle {
            // A user of --offline knows that a new key may be missing, but not for how long.
            if found.isStale {
                console.warn(held, "no newer ones are kept", at: world.clocks.now())
            }
        } else {
            console.warn(held, Diagnosis(obstacle).message, at: world.clocks.now())
        }
        return found
    }

    private func found(
        _ held: KeySetCache.Held, _ change: KeySetCache.Change? = nil, _ requestID: String? = nil
    ) -> FoundKeySet {
        FoundKeySet(
            held: held, isStale: !cache.isFresh(at: world.clocks.now()), change: change,
            firstSeen: cache.firstSeen, knownBefore: knownBefore, requestID: requestID)
    }
}
