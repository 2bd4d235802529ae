internal import CommandTable
internal import JOSE

/// A duration as people write it: `90s`, `15m`, `12h`, `30d`, or a combination, `1d12h`.
package struct DurationArgument: ParameterValue, Hashable {
    /// How long it is.
    package let duration: Duration

    /// Wraps a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Reads `1d12h`.
    package init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.init(duration)
    }

    /// What messages expect.
    package static var expectation: String { "a duration such as 90s, 15m, 12h, 30d or 1d12h" }

    /// The shortest text that is read as this.
    package var argumentDescription: String { duration.abbreviation }
}

/// A moment as RFC 3339 writes it.
struct TimestampArgument: ParameterValue, Hashable {
    let date: NumericDate

    init?(argument: String) {
        guard let date = NumericDate(rfc3339: argument) else { return nil }
        self.date = date
    }

    static var expectation: String { "a time such as 2026-11-21T08:30:00Z" }

    var argumentDescription: String { date.rfc3339 }
}
