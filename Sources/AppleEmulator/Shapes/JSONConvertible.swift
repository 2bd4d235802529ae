internal import JOSE
internal import Lifecycle

/// A value that is read from JSON and written to it: one member of a file or of a control request.
protocol JSONConvertible: Sendable {
    /// What the JSON must be, behind "must be".
    static var shape: String { get }
    /// Reads the value; nil when the JSON has another shape.
    init?(json: JSON)
    /// The value as it is read.
    var json: JSON { get }
}

extension String: JSONConvertible {
    static let shape = "a string"
    init?(json: JSON) {
        guard let text = json.string else { return nil }
        self = text
    }
    var json: JSON { .string(self) }
}

extension Int: JSONConvertible {
    static let shape = "a whole number"
    init?(json: JSON) {
        guard let number = json.integer else { return nil }
        self = number
    }
    var json: JSON { .integer(self) }
}

extension Bool: JSONConvertible {
    static let shape = "true or false"
    init?(json: JSON) {
        guard let flag = json.boolean else { return nil }
        self = flag
    }
    var json: JSON { .boolean(self) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    static var shape: String { "an array, each element \(Element.shape)" }
    init?(json: JSON) {
        guard let elements = json.elements else { return nil }
        let values = elements.compactMap(Element.init(json:))
        guard values.count == elements.count else { return nil }
        self = values
    }
    var json: JSON { .array(map(\.json)) }
}

/// A word out of a closed list.
extension JSONConvertible where Self: RawRepresentable & CaseIterable, RawValue == String {
    static var shape: String {
        "one of " + allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }
    init?(json: JSON) {
        guard let value = json.string.flatMap(Self.init(rawValue:)) else { return nil }
        self = value
    }
    var json: JSON { .string(rawValue) }
}

extension JSONConvertible where Self: Identifier {
    init?(json: JSON) {
        guard let text = json.string, Self.fault(in: text) == nil else { return nil }
        self.init(unchecked: text)
    }
    var json: JSON { .string(rawValue) }
}

extension TeamID: JSONConvertible { static let shape = "a Team ID: ten letters and digits" }
extension KeyID: JSONConvertible { static let shape = "a Key ID: ten letters and digits" }
extension ClientID: JSONConvertible { static let shape = "an App ID or a Services ID" }
extension UserID: JSONConvertible { static let shape = "a user identifier" }
extension TransferID: JSONConvertible { static let shape = "a transfer identifier" }
