internal import SIWACrypto

/// One JSON value (RFC 8259) with its members in their order.
///
/// siwa reads tokens, answers and settings with this type, because `JSONDecoder` silently accepts
/// duplicate members and trailing commas (docs/decisions/json.md).
package enum JSON: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    /// A number that is not an `Int`, as its original text, so that it is not rounded.
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    /// A name and its value.
    package struct Member: Hashable, Sendable {
        /// The name, without escapes.
        package let name: String
        /// The value of the member.
        package let value: JSON

        /// Pairs a name with a value.
        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// The member called `name`; nil if it is absent or if this is not an object.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        // Reads the members in place: copying one takes longer than comparing it.
        let span = members.span
        for index in span.indices where span[index].name.isExactly(name) {
            return span[index].value
        }
        return nil
    }

    /// The members; nil if this is not an object.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements; nil if this is not an array.
    package var elements: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text; nil if this is not a string.
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value; nil if this is not a whole number that fits.
    package var integer: Int? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The value; nil if this is not `true` or `false`.
    package var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The kind of the value with an article, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension String {
    /// Equal code point by code point, as JSON and JWT compare (RFC 8259 §8.3, RFC 7519 §2): for
    /// Swift's ==, a Kelvin sign equals a K.
    package func isExactly(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return utf8.isEmpty || utf8.span.isExactly(other.utf8.span)
    }

    /// Whether it contains a NUL character, which some databases do not accept.
    package var hasNUL: Bool { utf8.span.firstIndex(of: 0) != nil }
}

extension [UInt8] {
    /// Equal byte by byte.
    func isExactly(_ other: Span<UInt8>) -> Bool { span.isExactly(other) }

    /// Whether the part at `range` is equal byte by byte.
    func isExactly(_ other: Span<UInt8>, at range: Range<Int>) -> Bool {
        let all = span
        return all.extracting(range).isExactly(other)
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string from a literal.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Creates `true` or `false` from a literal.
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A whole number.
    package init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates an array from a literal.
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// An object; the literal's order is kept.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}
