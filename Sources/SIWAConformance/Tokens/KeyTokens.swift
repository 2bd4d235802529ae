internal import SIWACrypto
internal import SIWAJOSE

// Tokens whose kid, or whose key set, is unusual.
extension BadToken {
    static let keyIDs: [BadToken] = [
        forged("T17", "no kid, signed by an own key") { _ in [("kid", nil)] },
        forged("T17", "kid is a path, signed by an own key", false) { _ in
            [("kid", "../../../../dev/null")]
        },
        forged("T17", "kid is SQL, signed by an own key", false) { _ in
            [("kid", "' UNION SELECT 'key' -- ")]
        },
        forged("T17", "kid is a URL, signed by an own key", false) { _ in
            [("kid", "https://attacker.example/keys.json")]
        },
        forged("T17", "kid is null, signed by an own key", false) { _ in [("kid", .null)] },
        forged("T17", "kid is an array, signed by an own key", false) {
            [("kid", [$0.header["kid"] ?? ""])]
        },
        BadToken(
            "T17", "no kid, well signed, and the key set has one key", use: .vectors,
            result: .acceptable
        ) { good, issuer in
            Made(
                try await good.signed(header: [("kid", nil)], by: issuer),
                keySet: Issuer.keySet(issuer.signingKey.map { [$0] } ?? []))
        },
        header(
            "T17", "no kid, well signed, and the key set has several keys", use: .vectors,
            result: .acceptable
        ) { _ in [("kid", nil)] },
    ]

    static let keySets: [BadToken] = [
        keySet("the kid names an elliptic key") { key in
            let point = try Attacker.ellipticKey().publicKey.x963Representation
            return [
                "kty": "EC", "crv": "P-256", "kid": .string(key.keyID), "use": "sig",
                "alg": "ES256", "x": .string(Base64URL.encode(point[1...32])),
                "y": .string(Base64URL.encode(point[33...64])),
            ]
        },
        keySet("the kid names a key with use enc") { $0.json.changed([("use", "enc")]) },
        keySet("the kid names a key with key_ops encrypt") {
            $0.json.changed([("use", nil), ("key_ops", ["encrypt"])])
        },
        keySet("the kid names a key with alg RSA-OAEP-256") {
            $0.json.changed([("use", nil), ("alg", "RSA-OAEP-256")])
        },
        keySet("a key set without alg and use", result: .valid) {
            $0.json.changed([("use", nil), ("alg", nil)])
        },
    ]

    /// The good token, with another key under its kid.
    private static func keySet(
        _ comment: String, result: VectorResult? = nil,
        _ change: @escaping @Sendable (Issuer.PublishedKey) throws -> JSON
    ) -> BadToken {
        BadToken("T18", comment, use: .vectors, result: result) { good, issuer in
            let keys = try issuer.keys.map { key in
                key.keyID == issuer.signingKeyID ? try change(key) : key.json
            }
            return Made(good.token, keySet: ["keys": .array(keys)])
        }
    }

    static let lateKeys: [BadToken] = [
        BadToken("T71", "a good token under the only key of a new key set", use: .vectors) {
            good, issuer in
            Made(good.token, keySet: Issuer.keySet(issuer.signingKey.map { [$0] } ?? []))
        }
    ]
}
