package import SIWACrypto

// What conformance checks need of the issuer: its keys, to sign tokens that are wrong on purpose,
// and a place to deliver them.
extension AppleEmulator {
    /// The keys that are published now.
    package var publishedKeys: EmulatorKeys { service.keys }

    /// Has the exchange of `code` answer with `idToken` in place of a good identity token.
    package func prepare(_ idToken: String, forExchangeOf code: String) {
        service.preparedTokens[code] = idToken
    }

    /// Whether the refresh token of every session of the user called `name` is revoked; nil if the
    /// user has no session.
    package func isSignedOut(_ name: String) -> Bool? {
        let sessions = service.ledger.newestSessions(1000).filter { $0.user?.name == name }
        return sessions.isEmpty ? nil : sessions.allSatisfy(\.isRevoked)
    }
}

extension EmulatorKeys {
    /// The `kid` of the key that signs.
    package var signingKeyID: String { signing.keyID }
    /// A published `kid` that does not sign.
    package var otherKeyID: String? { entries.first { $0.keyID != signing.keyID }?.keyID }
    /// The public half of the key that signs: modulus and exponent, big-endian.
    package var signingKeyParts: (modulus: [UInt8], exponent: [UInt8]) {
        (signing.key.modulus, signing.key.exponent)
    }

    /// An RS256 signature by the key that signs.
    package func signature(for message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try signing.key.signature(for: message.span)
    }
}
