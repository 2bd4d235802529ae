/// A value that is read from JSON and written to it: one member of a file or of a request.
package protocol JSONConvertible: Sendable {
    /// What the JSON must be, as the end of a sentence "… must be".
    static var shape: String { get }
    /// Reads the value; nil if the JSON has another shape.
    init?(json: JSON)
    /// The value as JSON.
    var json: JSON { get }
}

extension String: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "a string" }

    /// Reads a string.
    package init?(json: JSON) {
        guard let text = json.string else { return nil }
        self = text
    }

    /// The text as a JSON string.
    package var json: JSON { .string(self) }
}

extension Int: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "a whole number" }

    /// Reads a whole number.
    package init?(json: JSON) {
        guard let number = json.integer else { return nil }
        self = number
    }

    /// A whole number.
    package var json: JSON { .integer(self) }
}

extension Bool: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "true or false" }

    /// Reads a boolean.
    package init?(json: JSON) {
        guard let flag = json.boolean else { return nil }
        self = flag
    }

    /// `true` or `false`.
    package var json: JSON { .boolean(self) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "an array, each element \(Element.shape)" }

    /// Reads an array; nil if an element has another shape.
    package init?(json: JSON) {
        guard let elements = json.elements else { return nil }
        let values = elements.compactMap(Element.init(json:))
        guard values.count == elements.count else { return nil }
        self = values
    }

    /// The elements as a JSON array, in their order.
    package var json: JSON { .array(map(\.json)) }
}

/// A word from a fixed list.
extension JSONConvertible where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// The accepted words, in the order of the cases.
    package static var shape: String {
        "one of " + allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Reads one of the words.
    package init?(json: JSON) {
        guard let value = json.string.flatMap(Self.init(rawValue:)) else { return nil }
        self = value
    }

    /// The word as a JSON string.
    package var json: JSON { .string(rawValue) }
}
