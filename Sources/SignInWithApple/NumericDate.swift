/// Seconds since the epoch, UTC, leap seconds ignored (RFC 7519 §2).
public struct NumericDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int

    /// A moment, in seconds since 1970-01-01T00:00:00Z.
    public init(_ seconds: Int) { self.seconds = seconds }

    /// The earlier of two moments is less.
    public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

    /// The moment `duration` later; parts of a second are dropped.
    public static func + (date: Self, duration: Duration) -> Self {
        let (sum, overflow) = date.seconds.addingReportingOverflow(
            Int(clamping: duration.components.seconds))
        return Self(overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The moment `duration` earlier; parts of a second are dropped.
    public static func - (date: Self, duration: Duration) -> Self { date + (.zero - duration) }

    /// How long it is from `right` to `left`.
    public static func - (left: Self, right: Self) -> Duration {
        let (difference, overflow) = left.seconds.subtractingReportingOverflow(right.seconds)
        return .seconds(overflow ? (left < right ? Int.min : .max) : difference)
    }
}
