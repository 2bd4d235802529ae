internal import SIWACommandTable

/// A number of requests per second: `50/s`, or `50`.
package struct RateArgument: NumberArgument {
    /// The number.
    package let perSecond: Int

    /// Creates a rate.
    package init(number: Int) { perSecond = number }

    package static let range = 1...1_000_000
    package static let unit = "/s"
    package static var expectation: String { "a rate such as 50/s" }

    package var argumentDescription: String { "\(perSecond)/s" }
}
