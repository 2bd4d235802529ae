package import SIWACrypto

// What conformance checks need of the issuer: its keys, to sign tokens that are wrong on purpose,
// and a place to deliver them.
extension AppleEmulator {
    /// The keys that are published now.
    package var publishedKeys: EmulatorKeys { service.keys }

    /// Has the exchange of `code` answer with `idToken` in place of a good identity token, and with
    /// `accessToken`, whose hash `idToken` may have.
    package func prepare(
        _ idToken: String, with accessToken: String, forExchangeOf code: String
    ) {
        service.preparedAnswers[code] = PreparedAnswer(
            alteration: TokenAlteration(ready: idToken), accessToken: accessToken)
    }

    /// A new access token of the newest session of the user called `name`; without a session, a text
    /// that only looks like one.
    package func accessToken(of name: String) throws(OpenSSLError) -> String {
        guard let user = service.users[name] else { return "" }
        let shard = try TokenText.shard(of: user.userID)
        let session = service.ledger.newestSessions(1000).first { $0.user?.name == name }
        guard let text = session?.refreshToken, let id = service.ledger.session(refreshToken: text)
        else { return TokenText.new(.access, shard: shard, using: &service.random.tokens) }
        return service.issueAccessToken(of: id, shard: shard)
    }

    /// How many sessions of the user called `name` are revoked.
    package func revokedSessions(of name: String) -> Int {
        service.ledger.newestSessions(1000).count { $0.user?.name == name && $0.isRevoked }
    }
}

extension EmulatorKeys {
    /// The public half of a published key: modulus and exponent are big-endian.
    package typealias PublicParts = (keyID: String, modulus: [UInt8], exponent: [UInt8])

    /// The `kid` of the key that signs.
    package var signingKeyID: String { signing.keyID }
    /// The published keys, in a fixed order.
    package var published: [PublicParts] {
        entries.map { ($0.keyID, $0.key.modulus, $0.key.exponent) }
    }

    /// RSA's private operation, by the key that signs, on a block as long as its modulus.
    package func signature(ofBlock block: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try signing.key.signature(ofBlock: block)
    }
}
