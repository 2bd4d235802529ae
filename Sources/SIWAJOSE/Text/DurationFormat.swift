extension Duration {
    /// Reads whole numbers with the units `d`, `h`, `m` and `s`, such as `1d12h`: each unit at most
    /// once, the largest first, so that `1m1d` is not misread. Nil for other texts, and for more than
    /// a century.
    ///
    /// - Parameter allowsMilliseconds: also accepts the unit `ms`.
    package init?(text: some StringProtocol, allowsMilliseconds: Bool = false) {
        var rest = text[...]
        var total = 0
        for unit in Self.units where unit.symbol != "ms" || allowsMilliseconds {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            let symbol = rest.dropFirst(digits.count).prefix { $0.isLetter }
            guard !digits.isEmpty, symbol == unit.symbol else { continue }
            guard let count = Int(digits), count <= Self.century / unit.milliseconds else {
                return nil
            }
            total += count * unit.milliseconds
            rest = rest.dropFirst(digits.count + symbol.count)
        }
        guard rest.isEmpty, !text.isEmpty, total <= Self.century else { return nil }
        self = .milliseconds(total)
    }

    /// `1d12h`, as ``init(text:allowsMilliseconds:)`` reads it; without parts of a second.
    package var abbreviation: String {
        let text = parts.map { "\($0.count)\($0.unit.symbol)" }.joined()
        return text.isEmpty ? "0s" : text
    }

    /// `1 day 12 hours`; without a sign and parts of a second.
    ///
    /// - Parameter count: how many units, beginning with the largest that is not zero.
    package func words(units count: Int = 4) -> String {
        let words = parts.prefix(count).map {
            "\($0.count) \($0.unit.name)\($0.count == 1 ? "" : "s")"
        }
        return words.isEmpty ? "0 seconds" : words.joined(separator: " ")
    }

    /// A measured time or a wait: `58 ms`, `12.3 s`, `1 hour 30 minutes`.
    package var measured: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        switch milliseconds {
        case ..<1000: return "\(milliseconds) ms"
        case ..<60_000:
            let (whole, rest) = (milliseconds / 1000, milliseconds % 1000)
            let fraction = rest.padded(to: 3).reversed().drop { $0 == "0" }.reversed()
            return fraction.isEmpty ? "\(whole) s" : "\(whole).\(String(fraction)) s"
        default: return words(units: 2)
        }
    }

    /// The whole units that are not zero, the largest first.
    private var parts: [(count: Int, unit: Unit)] {
        var rest = Int(components.seconds.magnitude)
        return Self.units.dropLast().compactMap { unit in
            let count = rest / (unit.milliseconds / 1000)
            rest %= unit.milliseconds / 1000
            return count == 0 ? nil : (count, unit)
        }
    }

    private struct Unit {
        let symbol: String
        let name: String
        let milliseconds: Int
    }

    private static let units = [
        Unit(symbol: "d", name: "day", milliseconds: 86_400_000),
        Unit(symbol: "h", name: "hour", milliseconds: 3_600_000),
        Unit(symbol: "m", name: "minute", milliseconds: 60_000),
        Unit(symbol: "s", name: "second", milliseconds: 1000),
        Unit(symbol: "ms", name: "millisecond", milliseconds: 1),
    ]

    /// A hundred years in milliseconds: far beyond any use, far below any overflow.
    private static let century = 36_525 * 86_400_000
}
