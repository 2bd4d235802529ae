internal import SIWACommandTable
internal import SIWAJOSE

/// A date or a time in RFC 3339; a date means its beginning in UTC.
struct DateArgument: ParameterValue, Hashable {
    let date: NumericDate

    init?(argument: String) {
        let isDay = argument.utf8.count == 10
        guard let date = NumericDate(rfc3339: isDay ? argument + "T00:00:00Z" : argument) else {
            return nil
        }
        self.date = date
    }

    static var expectation: String {
        "a day such as 2026-11-21, or a time such as 2026-11-21T08:30:00Z"
    }

    var argumentDescription: String { date.rfc3339 }
}

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
