/// Limits the requests in flight and the requests a second of a batch, and slows it down after 429,
/// 5xx and `Retry-After`.
///
/// A pure value. The window of requests in flight grows by one for each window of successes and
/// halves on overload (additive increase, multiplicative decrease, as TCP does, RFC 5681 §3.1). A
/// `Retry-After` pauses the whole run; repeated failures pause it for a growing time. The rate is a
/// leaky bucket without a burst, because a throttling server wants to avoid bursts after a pause.
package struct RateLimiter: Sendable {
    /// Whether a request may start.
    package enum Start: Hashable, Sendable {
        /// Now.
        case now
        /// Not before this time.
        case later(Duration)
        /// When a request in flight has ended.
        case whenOneEnds
    }

    private let concurrency: Int
    /// The least time between two starts.
    var interval: Duration
    private var window: Double
    private var nextStart = Duration.zero
    private var pausedUntil = Duration.zero
    private var failures = 0
    /// The number of slow-downs. Failures of requests that started before the last one are ignored.
    private var slowDowns = 0

    /// - Parameters:
    ///   - concurrency: the most requests in flight, at least 1.
    ///   - rate: the most requests started in a second; nil for no such limit.
    package init(concurrency: Int, rate: Int? = nil) {
        self.concurrency = max(concurrency, 1)
        interval = rate.map { .nanoseconds(1_000_000_000 / max($0, 1)) } ?? .zero
        window = Double(self.concurrency)
    }

    /// The requests that may be in flight now.
    package var allowance: Int { max(Int(window), 1) }

    /// When the next request may start. `.now` counts as having started it.
    ///
    /// - Parameter inFlight: the number of requests in flight.
    package mutating func start(inFlight: Int, at now: Duration) -> Start {
        guard inFlight < allowance else { return .whenOneEnds }
        let earliest = max(pausedUntil, nextStart)
        guard now >= earliest else { return .later(earliest) }
        // A late start does not shorten the next interval.
        if interval > .zero { nextStart = now + interval }
        return .now
    }

    /// Marks the request that starts now, for ``slowDown(since:retryAfter:jitter:at:)``.
    package var mark: Int { slowDowns }

    /// Notes that a request succeeded.
    package mutating func speedUp() {
        failures = 0
        window = min(window + 1 / max(window, 1), Double(concurrency))
    }

    /// How a request failed.
    package enum Failure: Sendable {
        /// Too many requests, or an outage: send fewer.
        case overload
        /// No response, which may have other causes than the load.
        case noResponse
    }

    /// Notes that a request failed. The whole run pauses only if failures repeat, or if the server asks for it:
    /// one failure among hundreds must not stop the rest.
    ///
    /// - Parameters:
    ///   - mark: ``mark`` at the start of the request.
    ///   - retryAfter: the pause that the server asks for.
    ///   - jitter: a random number in 0..<1.
    package mutating func slowDown(
        since mark: Int, _ failure: Failure, retryAfter: Duration?, jitter: Double,
        at now: Duration
    ) {
        if let retryAfter { pausedUntil = max(pausedUntil, now + min(retryAfter, Self.longest)) }
        guard mark == slowDowns else { return }
        slowDowns += 1
        failures += 1
        if failure == .overload { window = max(window / 2, 1) }
        guard failures > Self.tolerated else { return }
        let bound = Self.base * (1 << min(failures - Self.tolerated - 1, 10))
        pausedUntil = max(pausedUntil, now + min(bound, Self.longestOwn) * jitter)
    }

    private static let tolerated = 2
    private static let base = Duration.milliseconds(200)
    private static let longestOwn = Duration.seconds(15)
    /// The longest pause, whatever the server asks for.
    private static let longest = Duration.seconds(86_400)
}
