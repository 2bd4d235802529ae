internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE

// Tokens that Apple never signed.
extension BadToken {
    static let unsigned: [BadToken] = ["none", "None", "NONE", "nOnE"].flatMap { name in
        [
            BadToken("T01", "alg \(name), no signature", isRepresentative: name == "none") {
                $0.input($0.header.changed([("alg", .string(name))]).text, $0.claims.text) + "."
            },
            BadToken("T01", "alg \(name), the old signature", isRepresentative: name == "NONE") {
                $0.input($0.header.changed([("alg", .string(name))]).text, $0.claims.text) + "."
                    + $0.parts[2]
            },
        ]
    }

    static let confused: [BadToken] = [
        confusion("the PEM of the public key", true) { publicPEM($0) },
        confusion("the PEM without its last newline", true) { Array(publicPEM($0).dropLast()) },
        confusion("the PEM with CRLF", false) {
            publicPEM($0).flatMap { $0 == 10 ? [13, 10] : [$0] }
        },
        confusion("the DER of the public key", false) { publicDER($0) },
        confusion("the modulus", false) { $0.keys.signingKeyParts.modulus },
        confusion("empty", true) { _ in [] },
        confusion("the word secret", false) { _ in Array("secret".utf8) },
    ]

    private static func confusion(
        _ secret: String, _ isRepresentative: Bool,
        _ bytes: @escaping @Sendable (GoodSignIn) -> [UInt8]
    ) -> BadToken {
        BadToken("T02", "HS256, the secret is \(secret)", isRepresentative: isRepresentative) {
            let input = $0.input($0.header.changed([("alg", "HS256")]).text, $0.claims.text)
            let code = try HMAC.sha256(Array(input.utf8), with: SecretBytes(bytes($0)))
            return input + "." + Base64URL.encode(code)
        }
    }

    static let foreignKeys: [BadToken] = [
        BadToken("T03", "an own key as jwk in the header") {
            try $0.forged(header: [("jwk", $0.ownJWK(kid: "own"))])
        },
        BadToken("T03", "an own key as jwk, without kid", isRepresentative: false) {
            try $0.forged(header: [("jwk", $0.ownJWK(kid: "own")), ("kid", nil)])
        },
        BadToken("T05", "signed by a published key, under the kid of another") {
            try $0.signed(header: [("kid", .string($0.keys.otherKeyID ?? "other"))])
        },
        BadToken("T06", "an own key under a kid that is not published") {
            try $0.forged(header: [("kid", "Zz9Zz9Zz9Z")])
        },
        BadToken("T07", "an own key under a published kid") { try $0.forged(header: []) },
        BadToken("T15", "ES256 by an own key, under a published kid") {
            let input = $0.input($0.header.changed([("alg", "ES256")]).text, $0.claims.text)
            let signature = try P256PrivateKey.generate().signature(for: Array(input.utf8).span)
            return input + "." + Base64URL.encode(signature.rawRepresentation)
        },
        BadToken("T16", "no alg, signed by an own key") { try $0.forged(header: [("alg", nil)]) },
        BadToken("T16", "alg is an array", isRepresentative: false) {
            try $0.forged(header: [("alg", ["none", "RS256"])])
        },
        BadToken("T17", "no kid, signed by an own key") { try $0.forged(header: [("kid", nil)]) },
        BadToken("T17", "kid is a path", isRepresentative: false) {
            try $0.forged(header: [("kid", "../../../../dev/null")])
        },
        BadToken("T17", "kid is null", isRepresentative: false) {
            try $0.forged(header: [("kid", .null)])
        },
        BadToken("T17", "kid is an array", isRepresentative: false) {
            try $0.forged(header: [("kid", [.string($0.keys.signingKeyID)])])
        },
    ]

    static let changedBytes: [BadToken] = [
        BadToken("T08", "one bit of the signature is flipped") {
            var signature = try Base64URL.decode($0.parts[2])
            signature[signature.count / 2] ^= 1
            return $0.parts[0] + "." + $0.parts[1] + "." + Base64URL.encode(signature)
        },
        BadToken("T09", "another sub under the signature of the good token") {
            $0.input($0.header.text, $0.claims.changed([("sub", "001999.attacker.1999")]).text)
                + "." + $0.parts[2]
        },
        BadToken("T10", "a header that was changed after signing") {
            $0.input($0.header.changed([("typ", "JWT")]).text, $0.claims.text) + "."
                + $0.parts[2]
        },
        BadToken("T11", "an empty signature") { $0.parts[0] + "." + $0.parts[1] + "." },
        BadToken("T12", "the signature of another user's token") {
            let other = $0.other.split(separator: ".").last.map(String.init) ?? ""
            return $0.parts[0] + "." + $0.parts[1] + "." + other
        },
    ]

    private static func publicDER(_ good: GoodSignIn) -> [UInt8] {
        let (modulus, exponent) = good.keys.signingKeyParts
        let key = der(0x30, der(0x02, unsigned(modulus)) + der(0x02, unsigned(exponent)))
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0,
        ]
        return der(0x30, algorithm + der(0x03, [0] + key))
    }

    private static func unsigned(_ number: [UInt8]) -> [UInt8] {
        (number.first ?? 0) & 0x80 == 0 ? number : [0] + number
    }

    private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100
                ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
        return [tag] + length + content
    }

    private static func publicPEM(_ good: GoodSignIn) -> [UInt8] {
        var lines = "-----BEGIN PUBLIC KEY-----\n"
        var rest = Substring(Base64.encode(publicDER(good)))
        while !rest.isEmpty {
            lines += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return Array((lines + "-----END PUBLIC KEY-----\n").utf8)
    }
}

extension GoodSignIn {
    fileprivate func ownJWK(kid: String) -> JSON {
        [
            "kty": "RSA", "kid": .string(kid), "use": "sig", "alg": "RS256",
            "n": .string(Base64URL.encode(ownKey.modulus)),
            "e": .string(Base64URL.encode(ownKey.exponent)),
        ]
    }
}
