internal import SIWACrypto
package import SIWAEmulator
package import SIWAJOSE

/// Who signs: the keys that a verifier is told to trust, and those that it must not trust.
///
/// Everything that a maker adds by itself (an attacker's keys, salts, nonces) is a constant or a
/// hash of the good token, so that the same issuer and the same good sign-in give the same bytes.
package struct Issuer: Sendable {
    /// The public half of a published key.
    package struct PublishedKey: Sendable {
        package let keyID: String
        /// Big-endian.
        package let modulus: [UInt8]
        package let exponent: [UInt8]

        package init(keyID: String, modulus: [UInt8], exponent: [UInt8]) {
            (self.keyID, self.modulus, self.exponent) = (keyID, modulus, exponent)
        }

        /// As a JSON Web Key, as Apple publishes it.
        package var json: JSON {
            [
                "kty": "RSA", "kid": .string(keyID), "use": "sig", "alg": "RS256",
                "n": .string(Base64URL.encode(modulus)),
                "e": .string(Base64URL.encode(exponent)),
            ]
        }
    }

    /// What the key that signs is asked for.
    package enum Request: Sendable {
        /// A signature of a message.
        case message([UInt8], Algorithm)
        /// RSA's private operation on a block as long as the modulus, for paddings that are wrong.
        case block([UInt8])
    }

    package enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case rs384 = "RS384"
        case ps256 = "PS256"
    }

    /// The keys of the key set, in a fixed order.
    package let keys: [PublishedKey]
    /// The `kid` of the one that signs.
    package let signingKeyID: String
    private let sign: @Sendable (Request) async throws -> [UInt8]
    /// Signs the ES256 `client_secret` of a client, for `iat`; nil if its key is not at hand.
    private let clientSecret: (@Sendable (_ clientID: String, _ now: Int) async throws -> String)?
    /// Lays a key set and certificates (PEM) where a verifier would fetch them that believes the
    /// header; nil for addresses at which nothing answers.
    private let bait: (@Sendable (_ keys: JSON, _ certificates: String) async throws -> Bait)?

    /// The addresses of a bait.
    package struct Bait: Sendable {
        package let keySetURL: String
        package let certificatesURL: String

        package init(keySetURL: String, certificatesURL: String) {
            (self.keySetURL, self.certificatesURL) = (keySetURL, certificatesURL)
        }
    }

    package init(
        keys: [PublishedKey], signingKeyID: String,
        sign: @escaping @Sendable (Request) async throws -> [UInt8],
        clientSecret: (@Sendable (String, Int) async throws -> String)? = nil,
        bait: (@Sendable (JSON, String) async throws -> Bait)? = nil
    ) {
        (self.keys, self.signingKeyID, self.sign) = (keys, signingKeyID, sign)
        (self.clientSecret, self.bait) = (clientSecret, bait)
    }

    /// The issuer that has the keys of an emulator.
    package init(
        _ keys: EmulatorKeys,
        clientSecret: (@Sendable (String, Int) async throws -> String)? = nil,
        bait: (@Sendable (JSON, String) async throws -> Bait)? = nil
    ) {
        self.init(
            keys: keys.published.map {
                PublishedKey(keyID: $0.keyID, modulus: $0.modulus, exponent: $0.exponent)
            }, signingKeyID: keys.signingKeyID,
            sign: { try keys.signature(ofBlock: $0.block()) }, clientSecret: clientSecret,
            bait: bait)
    }

    /// The key that signs; nil if the key set lacks it.
    package var signingKey: PublishedKey? { keys.first { $0.keyID == signingKeyID } }

    /// A published `kid` that does not sign.
    package var otherKeyID: String { keys.first { $0.keyID != signingKeyID }?.keyID ?? "other" }

    /// The key set.
    package var keySet: JSON { Self.keySet(keys) }

    /// A key set of these keys.
    package static func keySet(_ keys: [PublishedKey]) -> JSON {
        ["keys": .array(keys.map(\.json))]
    }

    /// The signature of a text by the key that signs.
    package func signature(of text: String, _ algorithm: Algorithm = .rs256) async throws -> [UInt8]
    {
        try await sign(.message(Array(text.utf8), algorithm))
    }

    /// The private operation of the key that signs.
    package func signature(ofBlock block: [UInt8]) async throws -> [UInt8] {
        try await sign(.block(block))
    }

    /// A `client_secret` of that client.
    ///
    /// - Throws: ``NotPossible`` if the client's key is not at hand.
    package func clientSecret(of client: String, now: Int) async throws -> String {
        guard let clientSecret else {
            throw NotPossible("the private key of the client is not at hand")
        }
        return try await clientSecret(client, now)
    }

    /// The addresses of the attacker's key set and certificates.
    package func layBait() async throws -> Bait {
        guard let bait else {
            return Bait(
                keySetURL: "https://attacker.example/keys.json",
                certificatesURL: "https://attacker.example/certificates.pem")
        }
        return try await bait(["keys": [Attacker.jwk]], Attacker.certificatePEM)
    }
}

extension Issuer.Request {
    /// The block to which the private operation is applied.
    ///
    /// The salt of PS256 is a hash of the message, so that a signature is the same at every run.
    package func block() throws -> [UInt8] {
        switch self {
        case .block(let block): block
        case .message(let message, .rs256):
            RSAEncoding.pkcs1(try RSAEncoding.digestInfo256(message))
        case .message(let message, .rs384):
            RSAEncoding.pkcs1(try RSAEncoding.digestInfo384(message))
        case .message(let message, .ps256):
            try RSAEncoding.pss(message, salt: SHA256.digest(message.span))
        }
    }
}

/// Why a token cannot be made here; its variant is left out.
package struct NotPossible: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
