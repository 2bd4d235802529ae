internal import SIWAJOSE
internal import SIWALifecycle

/// The faults in the times of a client_secret.
struct TimeFindings {
    let all: [Finding]

    init(_ claims: JSON, _ now: NumericDate) {
        let times = ["exp", "iat", "nbf"].map { TimeClaim($0, claims[$0]) }
        all =
            Self.types(times) + Self.milliseconds(times)
            + times.flatMap { $0.name == "exp" ? Self.expiry($0, now) : Self.start($0, now) }
    }

    private static func types(_ times: [TimeClaim]) -> [Finding] {
        times.compactMap { time in
            switch time.value {
            // RFC 7519 §2 allows fractions, and a library in wide use has sent them for a year.
            case .fraction:
                Finding(
                    .timeFraction, .warning, .possible, seen: "\(time.name) has a fraction",
                    advice: "write it as a whole number of seconds")
            case .malformed(let kind):
                Finding(
                    .timeType, seen: "\(time.name) is \(kind)",
                    advice: "write it as a whole number of seconds, without quotation marks")
            case .absent, .milliseconds, .moment: nil
            }
        }
    }

    private static func milliseconds(_ times: [TimeClaim]) -> [Finding] {
        let names = times.filter { $0.value == .milliseconds }.map(\.name)
        guard !names.isEmpty else { return [] }
        return [
            Finding(
                .milliseconds,
                seen: "\(names.joined(separator: " and ")) count\(names.count == 1 ? "s" : "") "
                    + "milliseconds",
                advice: "count seconds: divide by 1000, as JavaScript's and Java's clocks need")
        ]
    }

    private static func expiry(_ time: TimeClaim, _ now: NumericDate) -> [Finding] {
        switch time.value {
        case .absent:
            return [
                Finding(
                    .missingMember, seen: "exp is missing: it would never expire",
                    advice: "add exp, at most 15777000 s from now")
            ]
        case .moment(let date) where date <= now:
            return [
                Finding(
                    .expired, seen: "it expired at \(date.rfc3339), \((now - date).words()) ago",
                    advice: "mint another: 'siwa secret'; a rotation by cron keeps one fresh")
            ]
        case .moment(let date) where date - now > ClientSecret.longestLifetime:
            return [
                Finding(
                    .tooLong,
                    seen: """
                        exp is \((date - now).words()) ahead, and Apple allows \
                        \(ClientSecret.longestLifetime.words())
                        """,
                    advice: """
                        six calendar months can be too long: take 180 days, \
                        'siwa secret --lifetime 180d'
                        """)
            ]
        default: return []
        }
    }

    private static func start(_ time: TimeClaim, _ now: NumericDate) -> [Finding] {
        switch time.value {
        case .absent where time.name == "iat":
            [
                Finding(
                    .missingMember, .error, .likely, seen: "iat is missing",
                    advice: "add iat, a minute in the past")
            ]
        case .moment(let date) where date > now:
            [
                Finding(
                    .notYetValid, .error, date - now > .seconds(60) ? .certain : .likely,
                    seen: "\(time.name) is \((date - now).words()) in the future",
                    advice: """
                        set the clock of the machine that minted it, and date \(time.name) back by \
                        a minute, as 'siwa secret' does
                        """)
            ]
        default: []
        }
    }
}

/// One claim of a JWT that should be a time.
struct TimeClaim {
    enum Value: Equatable {
        case absent
        /// A number that is not a whole one.
        case fraction
        /// Its kind, with an article.
        case malformed(String)
        case milliseconds
        case moment(NumericDate)
    }

    let name: String
    let value: Value

    init(_ name: String, _ json: JSON?) {
        self.name = name
        value =
            switch json {
            case nil: .absent
            // The year 5138 in seconds, 1973 in milliseconds.
            case .integer(let number) where number >= 100_000_000_000: .milliseconds
            case .integer(let number): .moment(NumericDate(number))
            case .number: .fraction
            case let other?: .malformed(other.kind)
            }
    }
}
