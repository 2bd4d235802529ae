internal import SIWAApplication
internal import SIWACommandTable

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
