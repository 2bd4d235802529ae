/// What is remembered of Apple's key set between runs, and what to do with it: a pure value, which
/// neither reads a file nor a clock.
///
/// A set is fresh for an hour. A token may name a key that is not in it, because Apple changes its
/// keys; it may also be forged, so after a fetch in vain none is made for a minute.
public struct KeySetCache: Sendable {
    /// A set, and when it was fetched.
    public struct Held: Sendable {
        /// The keys.
        public let keySet: KeySet
        /// When they came.
        public let fetchedAt: NumericDate
    }

    /// The newest set; nil before the first.
    public internal(set) var held: Held?
    /// Until when nothing is fetched, because the last fetch was in vain.
    public internal(set) var pausedUntil: NumericDate?
    /// When each `kid` was first seen, withdrawn ones too.
    public internal(set) var firstSeen: [String: NumericDate]

    /// Nothing is remembered.
    public init() { firstSeen = [:] }

    /// How long a set is fresh.
    public static let lifetime = Duration.seconds(3600)
    /// How long nothing is fetched after a fetch in vain.
    public static let pause = Duration.seconds(60)
    /// How many keys of the past are remembered.
    static let memory = 100
}

// The decision.
extension KeySetCache {
    /// What is asked of the cache.
    public struct Wish: Sendable {
        /// Whence a set may come.
        public enum Source: Sendable {
            /// From the cache, or from Apple.
            case any
            /// From the cache only.
            case cache
            /// From Apple only.
            case apple
        }

        /// The `kid` that the set should hold; nil when any set will do.
        public let keyID: String?
        /// When the command began to ask.
        public let askedAt: NumericDate
        /// Whence it may come.
        public let source: Source

        /// Says what is asked.
        public init(holding keyID: String?, askedAt: NumericDate, from source: Source = .any) {
            self.keyID = keyID
            self.askedAt = askedAt
            self.source = source
        }
    }

    /// What to do.
    public enum Step: Hashable, Sendable {
        /// The set is fresh and holds the key.
        case use
        /// The set is old, or does not hold the key, and there will be no better one now.
        case makeDo
        /// Ask Apple.
        case fetch
        /// There is no set, and there will be none now.
        case doWithout
    }

    /// What to do about `wish`.
    public func step(for wish: Wish, at now: NumericDate) -> Step {
        if wish.source == .apple { return .fetch }
        if isFresh(at: now), holds(wish.keyID) { return .use }
        if wish.source == .any, !isPaused(for: wish, at: now) { return .fetch }
        return held == nil ? .doWithout : .makeDo
    }

    /// Whether the set may be used without a word. One from the future was fetched before the
    /// clock was set back: nobody knows how old it is.
    public func isFresh(at now: NumericDate) -> Bool {
        guard let held else { return false }
        return held.fetchedAt <= now && now - held.fetchedAt < Self.lifetime
    }

    /// Whether the set holds a key of this `kid`; any set will do for nil.
    public func holds(_ keyID: String?) -> Bool {
        guard let held else { return false }
        return keyID.map { held.keySet.keys[$0] != nil } ?? true
    }

    /// Whether a fetch was in vain a short while ago, or since the wish was made: those who waited
    /// for it share what came of it. A pause that is longer than any is a clock that was set back.
    private func isPaused(for wish: Wish, at now: NumericDate) -> Bool {
        guard let pausedUntil else { return false }
        return wish.askedAt < pausedUntil && pausedUntil <= now + Self.pause
    }
}

// What comes of a fetch.
extension KeySetCache {
    /// The keys that are in one set and not in the other, by their `kid`, sorted. A `kid` that
    /// names another key than before is in both lists.
    public struct Change: Hashable, Sendable {
        /// Those that came.
        public let added: [String]
        /// Those that went.
        public let withdrawn: [String]

        /// Whether there is no difference.
        public var isEmpty: Bool { added.isEmpty && withdrawn.isEmpty }
    }

    /// How `keySet` differs from the one that is held; not at all when none is.
    public func change(to keySet: KeySet) -> Change {
        let before = held?.keySet ?? keySet
        return Change(added: keySet.keyIDs(notIn: before), withdrawn: before.keyIDs(notIn: keySet))
    }

    /// Takes a set that was fetched for `wish`.
    @discardableResult
    public mutating func adopt(_ keySet: KeySet, for wish: Wish, at now: NumericDate) -> Held {
        let held = Held(keySet: keySet, fetchedAt: now)
        self.held = held
        pausedUntil = holds(wish.keyID) ? nil : now + Self.pause
        remember(keySet, at: now)
        return held
    }

    /// Notes that a fetch failed. While there is no set, a request that never left asks for no
    /// pause: Apple was not troubled, and whoever mends the network tries again at once.
    public mutating func note(_ failure: TokenFailure, at now: NumericDate) {
        let isFree = held == nil && failure.cause.certainlyNeverLeft
        pausedUntil = isFree ? now : now + Self.pause
    }

    private mutating func remember(_ keySet: KeySet, at now: NumericDate) {
        for id in keySet.keys.keys where firstSeen[id] == nil { firstSeen[id] = now }
        let past = firstSeen.filter { keySet.keys[$0.key] == nil }
        let oldest = past.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
        for (id, _) in oldest.dropFirst(Self.memory) { firstSeen[id] = nil }
    }
}

extension KeySet {
    fileprivate func keyIDs(notIn other: KeySet) -> [String] {
        keys.filter { other.keys[$0.key] != $0.value }.keys.sorted()
    }
}
