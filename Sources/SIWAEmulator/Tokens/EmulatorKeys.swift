package import SIWACrypto
package import SIWAJOSE
internal import SIWALifecycle

/// The keys with which the emulated Apple signs: three are published, one of them signs, as
/// with Apple most of the time.
package struct EmulatorKeys: Sendable {
    struct Entry: Sendable {
        let keyID: String
        let key: RSAPrivateKey
    }

    /// Every published key, the oldest first.
    var entries: [Entry]
    /// The newest key, which signs.
    var signing: Entry
    /// Where later keys come from; nil to generate them.
    private var pool: NamedPool?

    /// The keys of a seed, and their ids.
    fileprivate struct NamedPool {
        var keys: KeyPool
        var names: RandomStream
    }

    /// Generates new keys. This is slow, so tests share one set.
    package static func generate() async throws -> EmulatorKeys {
        let signing = named(try RSAPrivateKey.generate())
        return EmulatorKeys(entries: try await fresh(2) + [signing], signing: signing)
    }

    /// The keys of a seed, which are constants: the same ones, with the same ids, at every start.
    package static func seeded(_ source: SeededSource) throws(OpenSSLError) -> EmulatorKeys {
        var order = source.stream("keys")
        var pool = NamedPool(
            keys: KeyPool(shuffledBy: &order), names: source.stream("key ids"))
        let entries = [try pool.take(), try pool.take()]
        let signing = try pool.take()
        return EmulatorKeys(entries: entries + [signing], signing: signing, pool: pool)
    }

    /// The keys that `GET /emulator/keys/private` shows.
    ///
    /// - Throws: ``ShapeError`` if the document has another form, ``OpenSSLError`` for another key.
    package init(privateDocument document: JSON) throws {
        let reader = try JSONObjectReader(document, knowing: ["signing", "keys"])
        let name: String = try reader.required("signing")
        let entries = try reader.elements("keys").map { key, place in
            let reader = try JSONObjectReader(key, at: place, knowing: ["kid", "pem"])
            let text = try PrivateKeyText(
                SecretBytes(try reader.required("pem", as: String.self).utf8))
            return Entry(
                keyID: try reader.required("kid"),
                key: try RSAPrivateKey(derRepresentation: text.der.revealed()))
        }
        guard let signing = entries.first(where: { $0.keyID == name }) else {
            throw ShapeError("", "'signing' names no key")
        }
        self.init(entries: entries, signing: signing)
    }

    private init(entries: [Entry], signing: Entry, pool: NamedPool? = nil) {
        (self.entries, self.signing, self.pool) = (entries, signing, pool)
    }

    /// The next keys of the seed; nil if there is none, and they must be generated.
    mutating func takeFromPool(_ count: Int) throws(OpenSSLError) -> [Entry]? {
        guard var pool else { return nil }
        var entries: [Entry] = []
        for _ in 0..<count { entries.append(try pool.take()) }
        self.pool = pool
        return entries
    }

    /// Generates keys without blocking the caller's actor.
    @concurrent static func fresh(_ count: Int) async throws -> [Entry] {
        try await withThrowingTaskGroup(of: Entry.self) { group in
            for _ in 0..<count { group.addTask { named(try RSAPrivateKey.generate()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The JWK Set, in another order each time: a client must choose by `kid`.
    func document(shuffledBy random: inout RandomStream) -> JSON {
        ["keys": .array(entries.shuffled(using: &random).map(\.json))]
    }

    /// Signs claims under Apple's header, which has two members and no `typ`.
    func token(_ claims: JSON) throws(OpenSSLError) -> String {
        let header: JSON = ["kid": .string(signing.keyID), "alg": "RS256"]
        let token = try CompactJWS.sign(header: header, payload: claims) {
            bytes throws(OpenSSLError) in
            try signing.key.signature(for: bytes)
        }
        return SecretText(token).revealed()
    }

    /// Gives a key an id of ten characters, as Apple's keys have since 2024.
    private static func named(_ key: RSAPrivateKey) -> Entry {
        Entry(keyID: Fresh.text(10), key: key)
    }
}

extension EmulatorKeys.NamedPool {
    fileprivate mutating func take() throws(OpenSSLError) -> EmulatorKeys.Entry {
        EmulatorKeys.Entry(keyID: names.text(10), key: try keys.take())
    }
}

extension EmulatorKeys.Entry {
    fileprivate var json: JSON {
        [
            "kty": "RSA", "kid": .string(keyID), "use": "sig", "alg": "RS256",
            "n": .string(Base64URL.encode(key.modulus)),
            "e": .string(Base64URL.encode(key.exponent)),
        ]
    }
}
