package import SIWAJOSE

/// The cached key set of Apple, and the decision whether to use or to fetch it: a pure value, which
/// reads neither files nor clocks.
///
/// A set is fresh for an hour, and is used for seven days if Apple cannot be reached. A token may
/// name a key that is not in it, because Apple changes its keys; it may also be forged. After an
/// unsuccessful fetch, none is made during a pause. A fetch is unsuccessful if it fails or lacks the
/// requested key; anyone can invent a `kid`.
package struct KeySetCache: Sendable {
    /// A key set with the time of its fetch.
    package struct Held: Sendable {
        /// The key set as it was fetched.
        package let keySet: KeySet
        /// When they were fetched.
        package let fetchedAt: NumericDate

        /// Whether the set may be used without a warning. The age of a set from the future is
        /// unknown, because the clock was set back after its fetch.
        package func isFresh(at now: NumericDate) -> Bool {
            fetchedAt <= now && now - fetchedAt < lifetime
        }
    }

    /// The newest set; nil before the first.
    package internal(set) var held: Held?
    /// The end of the pause after an unsuccessful fetch.
    package internal(set) var pausedUntil: NumericDate?
    /// When each `kid` was first seen, including withdrawn ones.
    package internal(set) var firstSeen: [String: NumericDate]

    private let pause: Duration

    /// An empty cache.
    ///
    /// - Parameter pause: how long no fetch is made after an unsuccessful one.
    package init(pause: Duration = commandPause) {
        self.pause = pause
        firstSeen = [:]
    }

    /// How long a set is fresh.
    package static let lifetime = Duration.seconds(3600)
    /// How long after its fetch a set is used: a key that Apple withdrew is accepted no longer.
    package static let maxAge = Duration.seconds(7 * 86_400)
    /// The age at which a set that cannot be replaced is reported.
    package static let warningAge = Duration.seconds(86_400)
    /// The pause of commands, many of which may run at the same time.
    package static let commandPause = Duration.seconds(60)
    /// The pause of a process that serves many users: after Apple changed its keys, genuine tokens
    /// wait for it if a forged one caused the last fetch.
    package static let servicePause = Duration.seconds(10)
    /// The number of withdrawn keys that are remembered.
    static let memory = 100
}

// The decision.
extension KeySetCache {
    /// The next step.
    package enum Step: Hashable, Sendable {
        /// Use the set: it is fresh and has the key.
        case use
        /// Use the set although it is old or lacks the key, because no fetch is allowed now.
        case useStale
        /// Fetch a set from Apple.
        case fetch
        /// There is no set, and no fetch is allowed now.
        case unavailable
    }

    /// The next step for `query`.
    package func step(for query: KeySetQuery, at now: NumericDate) -> Step {
        if query.source == .apple { return .fetch }
        if isFresh(at: now), holds(query.keyID) { return .use }
        if query.source == .any, !isPaused(for: query, at: now) { return .fetch }
        return usable(at: now) == nil ? .unavailable : .useStale
    }

    /// The set, unless it is too old. One from the future was fetched before the clock was set
    /// back; it is limited in the same way.
    package func usable(at now: NumericDate) -> Held? {
        guard let held else { return nil }
        let age = now - held.fetchedAt
        return max(age, .zero - age) <= Self.maxAge ? held : nil
    }

    /// Whether there is a set that may be used without a warning.
    package func isFresh(at now: NumericDate) -> Bool { held?.isFresh(at: now) ?? false }

    /// Whether the set has a key with this `kid`; true for nil if there is a set.
    package func holds(_ keyID: String?) -> Bool {
        guard let held else { return false }
        return keyID.map { held.keySet[$0] != nil } ?? true
    }

    /// Whether a fetch was unsuccessful during the last pause, or after the query was made: then
    /// another process made it, and the result is valid for both. A longer pause means that the
    /// clock was set back.
    private func isPaused(for query: KeySetQuery, at now: NumericDate) -> Bool {
        guard let pausedUntil else { return false }
        return query.askedAt < pausedUntil && pausedUntil <= now + pause
    }
}

// The result of a fetch.
extension KeySetCache {
    /// The differences between two sets, by `kid`, sorted. A `kid` with a different key is in both
    /// lists.
    package struct Change: Hashable, Sendable {
        /// The keys that only the newer set has.
        package let added: [String]
        /// The keys that only the older set has.
        package let withdrawn: [String]

        /// Whether both sets are equal.
        package var isEmpty: Bool { added.isEmpty && withdrawn.isEmpty }
    }

    /// The differences between the cached set and `keySet`; empty without a cached set.
    package func change(to keySet: KeySet) -> Change {
        let before = held?.keySet ?? keySet
        return Change(added: keySet.keyIDs(notIn: before), withdrawn: before.keyIDs(notIn: keySet))
    }

    /// Stores a set that was fetched for `query`.
    @discardableResult
    package mutating func adopt(_ keySet: KeySet, for query: KeySetQuery, at now: NumericDate)
        -> Held
    {
        let held = Held(keySet: keySet, fetchedAt: now)
        self.held = held
        pausedUntil = holds(query.keyID) ? nil : now + pause
        remember(keySet, at: now)
        return held
    }

    /// Takes over the set of another process, if it is newer.
    package mutating func adopt(newerSetOf other: KeySetCache, at now: NumericDate) {
        guard let theirs = other.usable(at: now), theirs.fetchedAt <= now,
            held.map({ $0.fetchedAt < theirs.fetchedAt }) ?? true
        else { return }
        held = theirs
        remember(theirs.keySet, at: now)
    }

    /// Records that a fetch failed.
    ///
    /// A fetch that this process ended, by a signal or a time limit, says nothing about Apple and
    /// causes no pause. While there is no set, neither does a request that never left: Apple did not
    /// receive it, and the next command may try again at once.
    package mutating func note(_ failure: TokenFailure, at now: NumericDate) {
        guard !failure.cause.wasGivenUp else { return }
        let isFree = held == nil && failure.cause.certainlyNeverLeft
        pausedUntil = isFree ? now : now + pause
    }

    private mutating func remember(_ keySet: KeySet, at now: NumericDate) {
        for id in keySet.keyIDs where firstSeen[id] == nil { firstSeen[id] = now }
        let past = firstSeen.filter { keySet[$0.key] == nil }
        let oldest = past.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
        for (id, _) in oldest.dropFirst(Self.memory) { firstSeen[id] = nil }
    }
}

extension KeySet {
    fileprivate func keyIDs(notIn other: KeySet) -> [String] {
        keys.filter { other[$0.id] != $0.key }.map { $0.id }
    }
}
