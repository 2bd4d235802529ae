internal import SIWACommandTable
internal import SIWAJOSE

/// A time in RFC 3339.
struct TimestampArgument: ParameterValue, Hashable {
    let date: NumericDate

    init?(argument: String) {
        guard let date = NumericDate(rfc3339: argument) else { return nil }
        self.date = date
    }

    static var expectation: String { "a time such as 2026-11-21T08:30:00Z" }

    var argumentDescription: String { date.rfc3339 }
}
