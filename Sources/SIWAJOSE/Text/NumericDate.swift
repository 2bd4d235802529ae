/// Seconds since the epoch, UTC, leap seconds ignored (RFC 7519 §2).
package struct NumericDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    package let seconds: Int

    /// A moment, in seconds since 1970-01-01T00:00:00Z.
    package init(_ seconds: Int) { self.seconds = seconds }

    /// The earlier of two moments is less.
    package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

    /// The moment `duration` later; parts of a second are dropped.
    package static func + (date: Self, duration: Duration) -> Self {
        date.adding(seconds: Int(clamping: duration.components.seconds))
    }

    /// The moment that many seconds later, or the latest or earliest of all.
    package func adding(seconds more: Int) -> Self {
        let (sum, overflow) = seconds.addingReportingOverflow(more)
        return Self(overflow ? (more < 0 ? .min : .max) : sum)
    }

    /// The moment `duration` earlier; parts of a second are dropped.
    package static func - (date: Self, duration: Duration) -> Self { date + (.zero - duration) }

    /// The time from `right` to `left`.
    package static func - (left: Self, right: Self) -> Duration {
        let (difference, overflow) = left.seconds.subtractingReportingOverflow(right.seconds)
        return .seconds(overflow ? (left < right ? Int.min : .max) : difference)
    }
}
