internal import CommandTable
internal import JOSE

/// A duration as people write it: `90s`, `15m`, `12h`, `30d`, or a combination, `1d12h`.
struct DurationArgument: ParameterValue, Hashable {
    /// How long it is.
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.init(duration)
    }

    static var expectation: String { "a duration such as 90s, 15m, 12h, 30d or 1d12h" }

    var argumentDescription: String { duration.abbreviation }
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
