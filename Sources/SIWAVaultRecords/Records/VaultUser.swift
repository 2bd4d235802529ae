internal import SIWAJOSE
package import SIWALifecycle

/// A user of one client, to whom tokens belong.
package struct VaultUser: Hashable, Sendable {
    /// The client that the token was issued to.
    package let clientID: ClientID
    /// The `sub` of the identity token that came with it.
    package let userID: UserID

    /// Creates a user of a client.
    package init(_ clientID: ClientID, _ userID: UserID) {
        (self.clientID, self.userID) = (clientID, userID)
    }

    /// Creates a user from an untrusted identifier.
    ///
    /// - Throws: ``IdentifierError`` if databases would not accept it.
    package init(_ clientID: ClientID, validating userID: String) throws(IdentifierError) {
        guard !userID.hasNUL else {
            throw IdentifierError(text: userID, fault: "must not have a NUL character in it")
        }
        guard userID.utf8.count <= Self.longestUserID else {
            throw IdentifierError(
                text: String(userID.prefix(40)),
                fault: "must not be longer than \(Self.longestUserID) bytes")
        }
        self.init(clientID, try UserID(validating: userID))
    }

    /// The longest user id, in bytes of UTF-8; Apple's have 44.
    private static let longestUserID = 255
}

extension VaultUser: Comparable {
    /// The order of records: by client, then by user, both by their UTF-8.
    package static func < (left: Self, right: Self) -> Bool {
        left.clientID == right.clientID
            ? left.userID.rawValue.utf8.lexicographicallyPrecedes(right.userID.rawValue.utf8)
            : left.clientID.rawValue.utf8.lexicographicallyPrecedes(right.clientID.rawValue.utf8)
    }
}

extension VaultUser: CustomStringConvertible {
    /// The name of the record in messages.
    package var description: String { "the record of '\(userID)' of \(clientID)" }
}
