internal import SIWACrypto
internal import SIWAJOSE

// Tokens that Apple never signed: nobody did, or everybody could.
extension BadToken {
    static let unsigned: [BadToken] =
        ["none", "None", "NONE", "nOnE"].flatMap { [bare($0), keepingSignature($0)] }

    private static func bare(_ name: String) -> BadToken {
        text("T01", "alg \(name), no signature", name == "none" || name == "None") { good, _ in
            good.input(header: [("alg", .string(name))]) + "."
        }
    }

    private static func keepingSignature(_ name: String) -> BadToken {
        text("T01", "alg \(name), the old signature", name == "NONE") { good, _ in
            good.input(header: [("alg", .string(name))]) + "." + good.parts[2]
        }
    }

    /// Numbers that are not the signature (Wycheproof's JWS file; RFC 8017 §5.2.2: below the modulus).
    static let changedNumbers: [BadToken] = [
        number("the signature is 0") { signature, _ in signature.map { _ in 0 } },
        number("the signature is 1") { signature, _ in signature.dropLast().map { _ in 0 } + [1] },
        number("the signature is the modulus") { _, modulus in modulus },
        // A modulus is odd.
        number("the signature is the modulus less 1") { _, modulus in
            modulus.dropLast() + [(modulus.last ?? 1) - 1]
        },
        number("the modulus is added to the signature") { sum($0, $1) },
        number("a zero in front of the signature") { signature, _ in [0] + signature },
        number("a zero behind the signature") { signature, _ in signature + [0] },
        number("the signature without its last byte") { signature, _ in signature.dropLast() },
    ]

    private static func number(
        _ comment: String, _ change: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) -> BadToken {
        text("T08", comment, use: .vectors) { good, issuer in
            guard let key = issuer.signingKey else { throw NotPossible("no key is published") }
            let signature = change(try Base64URL.decode(good.parts[2]), key.modulus)
            return good.parts[0] + "." + good.parts[1] + "." + Base64URL.encode(signature)
        }
    }

    /// The sum of two numbers of the same length, big-endian.
    private static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var (sum, carry) = ([UInt8](), 0)
        for (left, right) in zip(one, other).reversed() {
            carry += Int(left) + Int(right)
            sum.append(UInt8(carry & 0xFF))
            carry >>= 8
        }
        return (carry == 0 ? [] : [UInt8(carry)]) + sum.reversed()
    }

    static let changedBytes: [BadToken] = [
        text("T08", "one bit of the signature is flipped") { good, _ in
            var signature = try Base64URL.decode(good.parts[2])
            signature[signature.count / 2] ^= 1
            return good.parts[0] + "." + good.parts[1] + "." + Base64URL.encode(signature)
        },
        text("T09", "another sub under the signature of the good token") { good, _ in
            good.input(
                good.header.text, good.claims.changed([("sub", "001999.attacker.1999")]).text)
                + "." + good.parts[2]
        },
        text("T10", "a header that was changed after signing") { good, _ in
            good.input(header: [("typ", "JWT")]) + "." + good.parts[2]
        },
        text("T11", "an empty signature") { good, _ in
            good.parts[0] + "." + good.parts[1] + "."
        },
        text("T12", "the signature of another user's token") { good, _ in
            let other = good.other.split(separator: ".").last.map(String.init) ?? ""
            return good.parts[0] + "." + good.parts[1] + "." + other
        },
    ]

    static let encrypted: [BadToken] = [
        text("T13", "a JWE to the public key, of a token with alg none") { good, issuer in
            let inner = good.input(header: [("alg", "none"), ("kid", nil)]) + "."
            return try good.encrypted(inner, to: issuer)
        }
    ]

    /// The secret of HS256 is what everybody can read: the public key, in one of its forms.
    static let confused: [BadToken] =
        [
            confusion("the PEM of the public key", true) { $0.pem },
            confusion("the PEM without its last newline", true) { Array($0.pem.dropLast()) },
            confusion("the PEM after an empty line", false) { [10] + $0.pem },
            confusion("the PEM with CRLF", false) {
                $0.pem.flatMap { $0 == 10 ? [13, 10] : [$0] }
            },
            confusion("the PKCS#1 PEM of the public key", false) { $0.pkcs1PEM },
            confusion("the DER of the public key", false) { $0.der },
            confusion("the text of the JSON Web Key", false) { $0.json.bytes },
            confusion("the modulus", false) { $0.modulus },
            confusion("empty", true) { _ in [] },
            confusion("the word secret", false) { _ in Array("secret".utf8) },
        ] + [
            confusion("the PEM of the public key", false, .sha384) { $0.pem },
            confusion("the PEM of the public key", false, .sha512) { $0.pem },
            confusion("empty", false, .sha384) { _ in [] },
            confusion("empty", false, .sha512) { _ in [] },
        ]

    private static func confusion(
        _ secret: String, _ isRepresentative: Bool, _ hash: HMAC.Hash = .sha256,
        _ bytes: @escaping @Sendable (Issuer.PublishedKey) -> [UInt8]
    ) -> BadToken {
        let name = "HS\(hash.length * 8)"
        return text("T02", "\(name), the secret is \(secret)", isRepresentative) { good, issuer in
            guard let key = issuer.signingKey else { throw NotPossible("no key is published") }
            let input = good.input(header: [("alg", .string(name))])
            let code = try HMAC.code(
                of: Array(input.utf8), with: SecretBytes(bytes(key)), using: hash)
            return input + "." + Base64URL.encode(code)
        }
    }
}

extension GoodSignIn {
    /// A text, encrypted to the key that signs (RFC 7516): RSA-OAEP-256 and A256GCM.
    fileprivate func encrypted(_ text: String, to issuer: Issuer) throws -> String {
        guard let key = issuer.signingKey else { throw NotPossible("no key is published") }
        let header: JSON = [
            "alg": "RSA-OAEP-256", "enc": "A256GCM", "cty": "JWT", "kid": .string(key.keyID),
        ]
        let protected = Base64URL.encode(header.bytes)
        let content = try bytes(for: "content key")
        let hidden = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
            .encryption(ofBlock: RSAEncoding.oaep(content, seed: bytes(for: "seed")))
        let sealed = try AESGCM.seal(
            SecretBytes(text.utf8), with: AESGCM.Key(SecretBytes(content)),
            nonce: Array(bytes(for: "nonce").prefix(12)), authenticating: Array(protected.utf8))
        let parts = [hidden, Array(sealed.prefix(12)), Array(sealed.dropFirst(12).dropLast(16))]
        return ([protected] + (parts + [Array(sealed.suffix(16))]).map(Base64URL.encode))
            .joined(separator: ".")
    }
}

// The forms in which a public key is kept.
extension Issuer.PublishedKey {
    /// RSAPublicKey (RFC 8017 §A.1.1).
    private var pkcs1: [UInt8] {
        Self.der(
            0x30,
            Self.der(0x02, Self.unsigned(modulus)) + Self.der(0x02, Self.unsigned(exponent)))
    }

    /// SubjectPublicKeyInfo (RFC 5280 §4.1).
    fileprivate var der: [UInt8] {
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0,
        ]
        return Self.der(0x30, algorithm + Self.der(0x03, [0] + pkcs1))
    }

    fileprivate var pem: [UInt8] { Array(PEMText.encode(der, label: "PUBLIC KEY").utf8) }

    fileprivate var pkcs1PEM: [UInt8] {
        Array(PEMText.encode(pkcs1, label: "RSA PUBLIC KEY").utf8)
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
}
