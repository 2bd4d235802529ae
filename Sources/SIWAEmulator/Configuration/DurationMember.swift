internal import SIWAJOSE

extension Duration: JSONConvertible {
    static var shape: String {
        "a number of seconds, or a duration such as '200ms', '90s', '1h30m' or '-1d'"
    }

    init?(json: JSON) {
        switch json {
        case .integer(let seconds) where (-Self.longest...Self.longest).contains(seconds):
            self = .seconds(seconds)
        case .string(let text):
            let isNegative = text.hasPrefix("-")
            guard
                let duration = Self(
                    text: isNegative ? text.dropFirst() : text[...], allowsMilliseconds: true)
            else { return nil }
            self = isNegative ? .zero - duration : duration
        default: return nil
        }
    }

    var json: JSON { .integer(Int(components.seconds)) }

    /// A century in seconds: beyond it, clients cannot read the dates.
    private static let longest = 36_525 * 86_400
}
