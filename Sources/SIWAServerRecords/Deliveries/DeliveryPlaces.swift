internal import SIWALifecycle
internal import SIWAVaultRecords

/// Decides how many deliveries may begin, so that the events of users whom the application keeps
/// waiting do not delay those of others. A pure value.
///
/// An attempt holds one of sixteen places until it ends, but at most 100 ms; then it is only one of
/// the unfinished ones, of which there may be many. If the application is slow for everybody, an
/// attempt keeps its place, so that a struggling application gets no more than sixteen at a time.
package struct DeliveryPlaces: Sendable {
    private struct Attempt {
        let isRetry: Bool
        let begin: Duration
    }

    private var unfinished: [Int: Attempt] = [:]
    private var lastNumber = 0
    /// Whether the attempts that ended last were accepted in time, the newest last.
    private var ended: [Bool] = []

    /// All places are free.
    package init() {}

    /// Identifies an attempt.
    package struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// The usual limit of unfinished attempts, `deliver.max_in_flight`.
    package static let standardLimit = 256
    /// The possible limits of unfinished attempts.
    package static let limits = 1...4096

    private static let places = 16
    private static let keptForFirstAttempts = 8
    private static let keptForRetries = 4
    /// How long an attempt holds its place.
    private static let longestHold = Duration.milliseconds(100)
    /// How soon an application that is not slow accepts an event.
    private static let promptness = Duration.seconds(5)
    /// The number of attempts that show whether the application is slow.
    private static let memory = 64

    /// Whether none of the attempts that ended last was accepted in time.
    package var isSlowForEverybody: Bool {
        ended.count == Self.memory && !ended.contains(true)
    }

    /// How many attempts may begin.
    ///
    /// - Parameters:
    ///   - limit: the most unfinished attempts.
    ///   - now: the time of a monotonic clock.
    package func room(at now: Duration, limit: Int) -> DeliveryRoom {
        let isSlow = isSlowForEverybody
        let attempts = Array(unfinished.values)
        let held = attempts.filter { isSlow || now - $0.begin < Self.longestHold }
        let places = Room(among: min(Self.places, limit), held)
        let inFlight = Room(among: limit, attempts)
        return DeliveryRoom(
            firstAttempts: min(places.firstAttempts, inFlight.firstAttempts),
            retries: min(places.retries, inFlight.retries),
            total: min(places.total, inFlight.total))
    }

    /// The room among a number of places, some of which are kept for one kind.
    private struct Room {
        let firstAttempts, retries, total: Int

        init(among count: Int, _ taken: [Attempt]) {
            let retries = taken.count(where: \.isRetry)
            let forFirst = min(DeliveryPlaces.keptForFirstAttempts, count / 2)
            let forRetries = min(DeliveryPlaces.keptForRetries, count / 4)
            total = max(count - taken.count, 0)
            firstAttempts = min(max(count - forRetries - (taken.count - retries), 0), total)
            self.retries = min(max(count - forFirst - retries, 0), total)
        }
    }

    /// When the next place becomes free, even if no attempt ends; nil if that frees none.
    package func nextRelease(after now: Duration) -> Duration? {
        guard !isSlowForEverybody else { return nil }
        return unfinished.values.map { $0.begin + Self.longestHold }.filter { $0 > now }.min()
    }

    /// Notes that an attempt begins.
    package mutating func begin(isRetry: Bool, at now: Duration) -> Ticket {
        lastNumber += 1
        unfinished[lastNumber] = Attempt(isRetry: isRetry, begin: now)
        return Ticket(number: lastNumber)
    }

    /// Notes that an attempt ended.
    package mutating func end(_ ticket: Ticket, isAccepted: Bool, at now: Duration) {
        guard let attempt = unfinished.removeValue(forKey: ticket.number) else { return }
        ended.append(isAccepted && now - attempt.begin <= Self.promptness)
        if ended.count > Self.memory { ended.removeFirst() }
    }
}

/// How many deliveries may begin.
package struct DeliveryRoom: Hashable, Sendable {
    /// The most events that were never sent before.
    package let firstAttempts: Int
    /// The most events that were sent before.
    package let retries: Int
    /// The most of both.
    package let total: Int

    /// Creates a room.
    package init(firstAttempts: Int, retries: Int, total: Int) {
        (self.firstAttempts, self.retries, self.total) = (firstAttempts, retries, total)
    }

    /// Whether nothing may begin.
    package var isEmpty: Bool { total <= 0 || firstAttempts <= 0 && retries <= 0 }

    /// Whether there may be due events for which there was no room.
    ///
    /// - Parameter deliveries: what was claimed for this room.
    package func isUsedUp(by deliveries: [DueDelivery]) -> Bool {
        let retries = deliveries.count(where: \.isRetry)
        let first = deliveries.count - retries
        return deliveries.count >= total || first >= firstAttempts || retries >= self.retries
    }
}
