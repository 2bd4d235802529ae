package import SIWACrypto
package import SIWAEmulator
package import SIWAJOSE

/// A good identity token, and what is needed to make it wrong in one property.
package struct GoodSignIn: Sendable {
    /// The token as the emulator issued it.
    package let token: String
    package let header: JSON
    package let claims: JSON
    /// The published keys, with the one that signs.
    package let keys: EmulatorKeys
    /// A key that nobody publishes.
    package let ownKey: RSAPrivateKey
    /// The client ids that the backend accepts.
    package let audiences: [String]
    /// The identity token of another user, as good as this one.
    package let other: String
    /// The access token of the user; nil if none was issued.
    package let notification: String
    /// Seconds since 1970.
    package let now: Int

    package init(
        token: String, keys: EmulatorKeys, ownKey: RSAPrivateKey, audiences: [String],
        other: String, notification: String, now: Int
    ) throws {
        let jws = try CompactJWS(token)
        (self.token, header, claims) = (token, jws.header, jws.payload)
        (self.keys, self.ownKey, self.audiences) = (keys, ownKey, audiences)
        (self.other, self.notification, self.now) = (other, notification, now)
    }

    /// Base64url of the texts, with a dot between them.
    package func input(_ header: String, _ payload: String) -> String {
        Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    }

    /// The token with some claims changed, signed by the published key.
    package func signed(claims changes: [(String, JSON?)]) throws -> String {
        try signed(header: header.text, payload: claims.changed(changes).text)
    }

    /// The token with some header members changed, signed by the published key.
    package func signed(header changes: [(String, JSON?)]) throws -> String {
        try signed(header: header.changed(changes).text, payload: claims.text)
    }

    /// A token of these texts, signed by the published key.
    package func signed(header: String, payload: String) throws -> String {
        let input = input(header, payload)
        return try input + "." + Base64URL.encode(keys.signature(for: Array(input.utf8)))
    }

    /// The token with some header members changed, signed by a key that nobody publishes.
    package func forged(header changes: [(String, JSON?)]) throws -> String {
        let input = input(header.changed(changes).text, claims.text)
        return try input + "."
            + Base64URL.encode(ownKey.signature(for: Array(input.utf8).span))
    }

    /// The three parts of the good token.
    package var parts: [String] {
        token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

extension JSON {
    /// This object with members set, or removed if the value is nil.
    package func changed(_ changes: [(String, JSON?)]) -> JSON {
        var members = members ?? []
        for (name, value) in changes {
            let index = members.firstIndex { $0.name == name }
            switch (index, value) {
            case (let index?, let value?): members[index] = Member(name, value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
        }
        return .object(members)
    }
}
