/// The two notions of time: what a secret states, and what a wait takes.
public struct Clocks: Sendable {
    /// The calendar.
    public let now: @Sendable () -> NumericDate
    /// The stopwatch.
    public let timekeeper: Timekeeper

    /// Pairs the two.
    public init(now: @escaping @Sendable () -> NumericDate, timekeeper: Timekeeper) {
        self.now = now
        self.timekeeper = timekeeper
    }
}

/// Waiting and measuring, apart from the calendar: a clock that is set does not move it.
public struct Timekeeper: Sendable {
    /// The time since some fixed start.
    public let elapsed: @Sendable () -> Duration
    /// Waits.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// Composes a timekeeper; a test passes one on which no time passes.
    public init(
        elapsed: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.sleep = sleep
    }

    /// The system's monotonic clock.
    public static let system: Self = {
        let clock = ContinuousClock()
        let start = clock.now
        return Self(
            elapsed: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) })
    }()
}

/// The moment by which a whole command must be done, its retries included.
public struct Deadline: Sendable {
    private let timekeeper: Timekeeper
    private let end: Duration

    /// `timeout` from now.
    public init(after timeout: Duration, by timekeeper: Timekeeper) {
        self.timekeeper = timekeeper
        end = timekeeper.elapsed() + timeout
    }

    /// What is left; never negative.
    public var remaining: Duration { max(end - timekeeper.elapsed(), .zero) }
}
