internal import SIWACrypto
package import SIWAJOSE

/// A good identity token, and what is needed to make it wrong in one property.
package struct GoodSignIn: Sendable {
    /// The token as the issuer made it.
    package let token: String
    package let header: JSON
    package let claims: JSON
    /// The code that came with it; its hash is in the token.
    package let code: String
    /// An access token of the same user.
    package let accessToken: String
    /// The nonce as the backend is told it; nil without one.
    package let nonce: String?
    /// The client ids that the backend accepts.
    package let audiences: [String]
    /// A client of the same team whose tokens this endpoint must not take; nil if there is none.
    package let siblingClient: String?
    /// The identity token of another user, as good as this one.
    package let other: String
    /// The payload of a genuine notification.
    package let notification: String
    /// Seconds since 1970.
    package let now: Int

    /// - Parameter now: nil for the token's `iat`.
    package init(
        token: String, code: String = "", accessToken: String = "", nonce: String? = nil,
        audiences: [String] = [], siblingClient: String? = nil, other: String? = nil,
        notification: String = "", now: Int? = nil
    ) throws {
        let jws = try CompactJWS(token)
        (self.token, header, claims) = (token, jws.header, jws.payload)
        (self.code, self.accessToken, self.nonce) = (code, accessToken, nonce)
        (self.audiences, self.siblingClient) = (audiences, siblingClient)
        (self.other, self.notification) = (other ?? token, notification)
        self.now = now ?? jws.payload["iat"]?.integer ?? 0
    }

    /// The audience of the good token.
    package var audience: String { claims["aud"]?.string ?? "" }

    /// The three parts of the good token.
    package var parts: [String] {
        token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// 32 bytes for one purpose, which depend on the good token alone.
    func bytes(for purpose: String) throws -> [UInt8] {
        try SHA256.digest(purpose + "\n" + token)
    }

    /// Base64url of the texts, with a dot between them.
    package func input(_ header: String, _ payload: String) -> String {
        input(Array(header.utf8), Array(payload.utf8))
    }

    /// Base64url of the bytes, with a dot between them.
    package func input(_ header: [UInt8], _ payload: [UInt8]) -> String {
        Base64URL.encode(header) + "." + Base64URL.encode(payload)
    }

    /// The good token's input with some header members changed.
    package func input(header changes: [(String, JSON?)]) -> String {
        input(header.changed(changes).text, claims.text)
    }

    /// The token with some claims changed, signed by the published key.
    package func signed(
        claims changes: [(String, JSON?)], by issuer: Issuer
    ) async throws -> String {
        try await signed(input(header.text, claims.changed(changes).text), by: issuer)
    }

    /// The token with some header members changed, signed by the published key.
    package func signed(
        header changes: [(String, JSON?)], by issuer: Issuer
    ) async throws -> String {
        try await signed(input(header: changes), by: issuer)
    }

    /// A token of an input, signed by the published key.
    package func signed(
        _ input: String, by issuer: Issuer, _ algorithm: Issuer.Algorithm = .rs256
    ) async throws -> String {
        try await input + "." + Base64URL.encode(issuer.signature(of: input, algorithm))
    }

    /// The token with some members changed, signed by the attacker's key.
    package func forged(
        header changes: [(String, JSON?)] = [], claims: [(String, JSON?)] = []
    ) throws -> String {
        let input = input(header.changed(changes).text, self.claims.changed(claims).text)
        return try input + "."
            + Base64URL.encode(Attacker.rsaKey().signature(for: Array(input.utf8).span))
    }
}

/// The left half of the SHA-256 of a code or an access token, as `c_hash` and `at_hash` have it.
func leftHalfOfHash(_ text: String) throws -> String {
    Base64URL.encode(Array(try SHA256.digest(text).prefix(16)))
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
