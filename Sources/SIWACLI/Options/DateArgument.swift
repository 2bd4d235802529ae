internal import CommandTable
internal import JOSE

/// A day, or a moment of it, as RFC 3339 writes them; a day begins when it does in UTC.
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
