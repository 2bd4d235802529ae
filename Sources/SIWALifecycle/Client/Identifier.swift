internal import SIWAJOSE

/// An identifier from Apple. Each kind has its own type, so that they cannot be mixed up.
package protocol Identifier: Hashable, Sendable, CustomStringConvertible {
    /// The text on the wire.
    var rawValue: String { get }
    /// Creates an identifier from a text that is known to be one.
    init(unchecked rawValue: String)
    /// What is wrong with a text, as the end of a sentence; nil if it is valid.
    static func fault(in text: String) -> String?
}

extension Identifier {
    /// The text on the wire.
    package var description: String { rawValue }

    /// Creates an identifier from a text of the right shape.
    ///
    /// - Throws: ``IdentifierError``, which describes the shape.
    package init(validating text: String) throws(IdentifierError) {
        if let fault = Self.fault(in: text) { throw IdentifierError(text: text, fault: fault) }
        self.init(unchecked: text)
    }

    /// Apple's Team IDs and Key IDs: ten letters and digits.
    fileprivate static func faultInTenCharacters(_ text: String) -> String? {
        let isTen =
            text.utf8.count == 10
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
            }
        return isTen ? nil : "must be ten letters and digits"
    }
}

/// The error for a text that is not such an identifier.
package struct IdentifierError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The refused text.
    package let text: String
    /// What is wrong, as the end of a sentence.
    package let fault: String

    package init(text: String, fault: String) { (self.text, self.fault) = (text, fault) }

    /// The text and its fault.
    package var description: String { "'\(text)' \(fault)" }
}

/// Apple's id of a developer team, ten characters: `iss` of a client_secret.
package struct TeamID: Identifier {
    /// The text on the wire.
    package let rawValue: String
    /// Creates a Team ID from a text that is known to be one.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// What is wrong with a text.
    package static func fault(in text: String) -> String? { faultInTenCharacters(text) }
}

/// Apple's id of a private key, ten characters: `kid` of a client_secret.
package struct KeyID: Identifier {
    /// The text on the wire.
    package let rawValue: String
    /// Creates a Key ID from a text that is known to be one.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// What is wrong with a text.
    package static func fault(in text: String) -> String? { faultInTenCharacters(text) }
}

/// An App ID (bundle id, without the Team ID) or a Services ID: `client_id`.
package struct ClientID: Identifier {
    /// The text on the wire.
    package let rawValue: String
    /// Creates a client id from a text that is known to be one.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// What is wrong with a text.
    package static func fault(in text: String) -> String? {
        let isVisible =
            !text.isEmpty && text.utf8.count <= 255
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isVisible ? nil : "must be an App ID or Services ID, such as com.example.app"
    }
}

/// A user of one team's apps: `sub` of an identity token.
package struct UserID: Identifier {
    /// The text on the wire.
    package let rawValue: String
    /// Creates a user identifier from a text that is known to be one.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// What is wrong with a text.
    package static func fault(in text: String) -> String? {
        text.isEmpty ? "must not be empty" : nil
    }
    /// Compares bytes, as databases do: for Swift's String, é in two scalars equals é in one.
    package static func == (left: Self, right: Self) -> Bool {
        left.rawValue.isExactly(right.rawValue)
    }
}

/// A user during a transfer between teams: `transfer_sub`.
package struct TransferID: Identifier {
    /// The text on the wire.
    package let rawValue: String
    /// Creates a transfer identifier from a text that is known to be one.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// What is wrong with a text.
    package static func fault(in text: String) -> String? { UserID.fault(in: text) }
}
