internal import CommandTable

/// A number of requests a second: `50/s`, or `50`.
struct RateArgument: ParameterValue, Hashable {
    let perSecond: Int

    init?(argument: String) {
        guard let number = wholeNumber(argument, unit: "/s", in: 1...1_000_000) else { return nil }
        perSecond = number
    }

    static var expectation: String { "a rate such as 50/s" }

    var argumentDescription: String { "\(perSecond)/s" }
}

/// A share, from 0 to 100 percent: `50`, or `50%`.
struct PercentArgument: ParameterValue, Hashable {
    let percent: Int

    static let half = Self(percent: 50)

    private init(percent: Int) { self.percent = percent }

    init?(argument: String) {
        guard let number = wholeNumber(argument, unit: "%", in: 0...100) else { return nil }
        percent = number
    }

    static var expectation: String { "a percentage from 0 to 100" }

    var argumentDescription: String { "\(percent)" }
}

/// How many of something, from 1 to a million.
struct CountArgument: ParameterValue, Hashable {
    let count: Int

    static let hundred = Self(count: 100)

    private init(count: Int) { self.count = count }

    init?(argument: String) {
        guard let number = wholeNumber(argument, unit: "", in: 1...1_000_000) else { return nil }
        count = number
    }

    static var expectation: String { "a number from 1 to 1000000" }

    var argumentDescription: String { "\(count)" }
}

/// Reads digits, with or without the unit after them; nil for anything else, and outside `range`.
private func wholeNumber(_ text: String, unit: String, in range: ClosedRange<Int>) -> Int? {
    let digits = text.hasSuffix(unit) ? text.dropLast(unit.count) : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(digits), range.contains(number)
    else { return nil }
    return number
}
