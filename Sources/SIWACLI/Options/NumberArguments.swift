internal import SIWAApplication
internal import SIWACommandTable

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
