/// The value of a column, or of a parameter of a statement.
package enum Value: Hashable, Sendable {
    case null
    case integer(Int)
    case text(String)
    /// A text column whose bytes are not UTF-8.
    case invalidText([UInt8])
    case bytes([UInt8])
    /// Several values of one type; only for parameters on PostgreSQL.
    case array(of: Element, [Value])

    /// A type of the values of an array.
    package enum Element: String { case text, integer = "bigint", bytes = "bytea" }

    /// An integer, or null.
    package init(_ integer: Int?) { self = integer.map(Self.integer) ?? .null }

    /// A text, or null.
    package init(_ text: String?) { self = text.map(Self.text) ?? .null }

    /// A text of any bytes.
    package init(textOf bytes: [UInt8]) {
        self = String(validating: bytes, as: UTF8.self).map(Self.text) ?? .invalidText(bytes)
    }

    package var integer: Int? { if case .integer(let integer) = self { integer } else { nil } }
    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// The bytes of a text, without checking them; empty for another type.
    package var textBytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .invalidText(let bytes), .bytes(let bytes): bytes
        case .null, .integer, .array: []
        }
    }
}
