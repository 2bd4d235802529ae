/// What a column holds, and what a parameter of a statement is.
enum Value: Hashable, Sendable {
    case null
    case integer(Int)
    case text(String)
    case bytes([UInt8])

    /// An integer, or nothing.
    init(_ integer: Int?) { self = integer.map(Self.integer) ?? .null }

    var integer: Int? { if case .integer(let integer) = self { integer } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
