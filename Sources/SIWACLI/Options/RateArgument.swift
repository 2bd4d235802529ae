internal import SIWACommandTable

/// A number of requests per second: `50/s`, or `50`.
struct RateArgument: NumberArgument {
    let perSecond: Int

    init(number: Int) { perSecond = number }

    static let range = 1...1_000_000
    static let unit = "/s"
    static var expectation: String { "a rate such as 50/s" }

    var argumentDescription: String { "\(perSecond)/s" }
}
