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
        var rest = argument[...]
        var seconds = 0
        // Each unit at most once, the largest first, so that `1m1d` is no riddle.
        for (unit, length) in Self.units {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            guard !digits.isEmpty, rest.dropFirst(digits.count).first == unit else { continue }
            guard let count = Int(digits), count <= Self.longest / length else { return nil }
            seconds += count * length
            rest = rest.dropFirst(digits.count + 1)
        }
        guard rest.isEmpty, !argument.isEmpty else { return nil }
        duration = .seconds(seconds)
    }

    /// What messages expect.
    package static var expectation: String { "a duration such as 90s, 15m, 12h, 30d or 1d12h" }

    /// The shortest text that is read as this.
    package var argumentDescription: String {
        var seconds = Int(duration.components.seconds)
        var text = ""
        for (unit, length) in Self.units where seconds >= length {
            text += "\(seconds / length)\(unit)"
            seconds %= length
        }
        return text.isEmpty ? "0s" : text
    }

    /// `90 days`, `1 day 12 hours`.
    var words: String {
        var seconds = Int(duration.components.seconds)
        let names = ["day", "hour", "minute", "second"]
        let parts = zip(Self.units, names).compactMap { unit, name -> String? in
            let count = seconds / unit.1
            seconds %= unit.1
            return count == 0 ? nil : "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return parts.isEmpty ? "0 seconds" : parts.joined(separator: " ")
    }

    private static let units: [(Character, Int)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// A hundred years: far beyond any use, far below any overflow.
    private static let longest = 36_525 * 86_400
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
