internal import SIWAJOSE

/// A piece of HTML. An interpolated text is escaped; another piece of HTML is not. Text from
/// clients and files cannot become markup.
struct HTML: ExpressibleByStringInterpolation {
    /// The markup, with escaped texts.
    let source: String

    init(stringLiteral value: String) { source = value }

    init(stringInterpolation: StringInterpolation) { source = stringInterpolation.source }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            source.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { source += literal }

        mutating func appendInterpolation(_ text: String) { source += text.escapedForHTML }

        mutating func appendInterpolation(_ html: HTML) { source += html.source }

        mutating func appendInterpolation(_ pieces: [HTML]) {
            source += pieces.map(\.source).joined(separator: "\n")
        }
    }
}
