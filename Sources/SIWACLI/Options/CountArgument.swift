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
