internal import SIWACommandTable
internal import SIWAJOSE

/// An integer on the command line, with or without the unit after it.
protocol NumberArgument: ParameterValue, Hashable {
    /// The accepted numbers.
    static var range: ClosedRange<Int> { get }
    /// The unit, such as `/s`; empty if absent.
    static var unit: String { get }

    /// Creates the argument from a number in ``range``.
    init(number: Int)
}

extension NumberArgument {
    static var unit: String { "" }

    /// Reads decimal digits; nil for other characters and for numbers outside ``range``.
    init?(argument: String) {
        let digits =
            argument.hasSuffix(Self.unit) ? argument.dropLast(Self.unit.count) : argument[...]
        guard digits.isDecimal, let number = Int(digits), Self.range.contains(number) else {
            return nil
        }
        self.init(number: number)
    }
}

/// A number of items, from 1 to a million.
struct CountArgument: NumberArgument {
    let count: Int

    static let hundred = Self(number: 100)

    init(number: Int) { count = number }

    static let range = 1...1_000_000
    static var expectation: String { "a number from 1 to 1000000" }

    var argumentDescription: String { "\(count)" }
}

/// A percentage: `50`, or `50%`.
struct PercentArgument: NumberArgument {
    let percent: Int

    static let half = Self(number: 50)

    init(number: Int) { percent = number }

    static let range = 0...100
    static let unit = "%"
    static var expectation: String { "a percentage from 0 to 100" }

    var argumentDescription: String { "\(percent)" }
}

/// A number of requests per second: `50/s`, or `50`.
struct RateArgument: NumberArgument {
    let perSecond: Int

    init(number: Int) { perSecond = number }

    static let range = 1...1_000_000
    static let unit = "/s"
    static var expectation: String { "a rate such as 50/s" }

    var argumentDescription: String { "\(perSecond)/s" }
}
