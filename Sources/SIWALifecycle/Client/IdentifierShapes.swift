package import SIWAJOSE

extension JSONConvertible where Self: Identifier {
    /// Reads an identifier; nil if the text cannot be one.
    package init?(json: JSON) {
        guard let text = json.string, Self.fault(in: text) == nil else { return nil }
        self.init(unchecked: text)
    }

    /// The identifier as a JSON string.
    package var json: JSON { .string(rawValue) }
}

extension TeamID: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "a Team ID: ten letters and digits" }
}

extension KeyID: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "a Key ID: ten letters and digits" }
}

extension ClientID: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "an App ID or a Services ID" }
}

extension UserID: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "a user identifier" }
}

extension TransferID: JSONConvertible {
    /// What the JSON must be.
    package static var shape: String { "a transfer identifier" }
}
