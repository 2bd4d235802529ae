package import SIWACrypto
internal import SIWAJOSE

/// The key of a developer, which signs the `client_secret` of their clients.
package struct DeveloperKey: Sendable {
    private let teamID: String
    private let keyID: String
    private let sign: @Sendable ([UInt8]) throws -> P256Signature

    /// A key from a `.p8`.
    package init(_ key: P256PrivateKey, id keyID: String, of teamID: String) {
        (self.teamID, self.keyID) = (teamID, keyID)
        sign = { try key.signature(for: $0.span) }
    }

    /// A key whose signatures are the same at every run.
    package init(_ key: ReproducibleP256Key, id keyID: String, of teamID: String) {
        (self.teamID, self.keyID) = (teamID, keyID)
        sign = { try key.signature(for: $0) }
    }

    /// A `client_secret` that is good for an hour from `now` on.
    package func secret(of client: String, now: Int) throws -> String {
        let header: JSON = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSON = [
            "iss": .string(teamID), "iat": .integer(now), "exp": .integer(now + 3600),
            "aud": "https://appleid.apple.com", "sub": .string(client),
        ]
        let input = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
        return try input + "." + Base64URL.encode(sign(Array(input.utf8)).rawRepresentation)
    }
}
