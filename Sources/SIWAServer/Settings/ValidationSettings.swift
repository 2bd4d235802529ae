internal import SIWAApplication
internal import SIWAJOSE

/// How siwa-server validates stored tokens by itself: `server.validate`.
struct ValidationSettings: Hashable, Sendable {
    /// The time between two checks of a user.
    let interval: Duration
    /// The most checks started in a second, by all servers together.
    let perSecond: Int

    /// The members of `validate`.
    static let names = ["every", "rate"]

    /// Creates settings.
    init(every interval: Duration = Self.day, perSecond: Int = 5) {
        (self.interval, self.perSecond) = (interval, perSecond)
    }

    init(_ reader: SettingsReader) throws(Diagnosis) {
        let interval = try reader.duration("every") ?? Self.day
        guard Self.intervals.contains(interval) else {
            throw reader.error("every", "must be between 1m and 30d")
        }
        let rate = try reader.text("rate").map { text throws(Diagnosis) in
            guard let rate = RateArgument(argument: text) else {
                throw reader.error(
                    "rate", "'\(printable(text))' is not \(RateArgument.expectation)")
            }
            return rate.perSecond
        }
        self.init(every: interval, perSecond: rate ?? 5)
    }

    private static let day = Duration.seconds(86_400)
    private static let intervals = Duration.seconds(60)...Duration.seconds(30 * 86_400)

    /// What to tell the operator; nil if nothing is unusual.
    var warning: String? {
        guard interval < .seconds(23 * 3600) else { return nil }
        return
            "server.validate.every is \(interval.abbreviation): Apple allows one check of a user "
            + "a day, and throttles clients that ask more often"
    }
}
