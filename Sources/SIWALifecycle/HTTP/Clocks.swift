package import SIWAJOSE

/// The wall clock, for times in secrets, and the monotonic clock, for waits.
package struct Clocks: Sendable {
    /// The wall clock.
    package let now: @Sendable () -> NumericDate
    /// The monotonic clock.
    package let timekeeper: Timekeeper

    /// Pairs the two.
    package init(now: @escaping @Sendable () -> NumericDate, timekeeper: Timekeeper) {
        self.now = now
        self.timekeeper = timekeeper
    }
}

/// Waits and measures time by a monotonic clock, which is unaffected when the wall clock is set.
package struct Timekeeper: Sendable {
    /// The time since an arbitrary start.
    package let elapsed: @Sendable () -> Duration
    /// Waits.
    package let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a timekeeper; tests pass functions that do not wait.
    package init(
        elapsed: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.sleep = sleep
    }

    /// The system's monotonic clock.
    package static let system: Self = {
        let clock = ContinuousClock()
        let start = clock.now
        return Self(
            elapsed: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) })
    }()
}

/// The moment by which a whole command must be done, its retries included.
package struct Deadline: Sendable {
    private let timekeeper: Timekeeper
    private let end: Duration

    /// `timeout` from now.
    package init(after timeout: Duration, by timekeeper: Timekeeper) {
        self.timekeeper = timekeeper
        end = timekeeper.elapsed() + timeout
    }

    /// The remaining time; never negative.
    package var remaining: Duration { max(end - timekeeper.elapsed(), .zero) }
}
