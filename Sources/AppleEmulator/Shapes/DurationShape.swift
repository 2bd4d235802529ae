internal import JOSE

extension Duration: JSONConvertible {
    static let shape = "a number of seconds, or a duration such as '200ms', '90s', '1h30m' or '-1d'"

    init?(json: JSON) {
        switch json {
        case .integer(let seconds) where abs(seconds.clamped) <= Self.longest:
            self = .seconds(seconds)
        case .string(let text):
            guard let duration = Self.reading(text) else { return nil }
            self = duration
        default: return nil
        }
    }

    var json: JSON { .integer(Int(components.seconds)) }

    /// A century: beyond it, dates stop being ones a client can read.
    private static let longest = 100 * 366 * 86_400

    private static let units = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]

    private static func reading(_ text: String) -> Duration? {
        let isNegative = text.hasPrefix("-")
        var rest = isNegative ? text.dropFirst() : text[...]
        var total = 0
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let unit = rest.dropFirst(digits.count).prefix { $0.isLetter }
            guard let count = Int(digits), let factor = units[String(unit)],
                count <= longest * 1000 / factor
            else { return nil }
            total += count * factor
            rest = rest.dropFirst(digits.count + unit.count)
        } while !rest.isEmpty && total <= longest * 1000
        guard total <= longest * 1000 else { return nil }
        return .milliseconds(isNegative ? -total : total)
    }
}

extension Int {
    /// Keeps `abs` from trapping on the one number that has no positive twin.
    fileprivate var clamped: Int { Swift.max(self, -Int.max) }
}
