internal import SIWACrypto
internal import SIWAJOSE

// Tokens that another key signed, or the right key in a way that is not RS256.
extension BadToken {
    static let foreignKeys: [BadToken] = [
        forged("T03", "an own key as jwk in the header") { _ in [("jwk", Attacker.jwk)] },
        forged("T03", "an own key as jwk, without kid", false) { _ in
            [("jwk", Attacker.jwk), ("kid", nil)]
        },
        forged("T03", "the certificate of an own key as x5c in the header") { _ in
            [("x5c", [.string(Base64.encode(Attacker.certificate))])]
        },
        text("T04", "jku names the attacker's key set") { good, issuer in
            let bait = try await issuer.layBait()
            return try good.forged(header: [("jku", .string(bait.keySetURL)), ("kid", "own")])
        },
        text("T04", "x5u names the attacker's certificate") { good, issuer in
            let bait = try await issuer.layBait()
            return try good.forged(header: [("x5u", .string(bait.certificatesURL))])
        },
        text("T05", "signed by a published key, under the kid of another") { good, issuer in
            try await good.signed(header: [("kid", .string(issuer.otherKeyID))], by: issuer)
        },
        forged("T06", "an own key under a kid that is not published") { _ in
            [("kid", "Zz9Zz9Zz9Z")]
        },
        forged("T07", "an own key under a published kid") { _ in [] },
        BadToken(
            "T70", "signed by the key that was withdrawn from the key set", use: .vectors
        ) { good, issuer in
            let rest = issuer.keys.filter { $0.keyID != issuer.signingKeyID }
            return Made(good.token, keySet: Issuer.keySet(rest))
        },
    ]

    static let otherAlgorithms: [BadToken] = [
        text("T15", "ES256 by an own key, under a published kid") { good, _ in
            let input = good.input(header: [("alg", "ES256")])
            let signature = try Attacker.ellipticKey().signature(for: Array(input.utf8))
            return input + "." + Base64URL.encode(signature.rawRepresentation)
        },
        text("T15", "PS256 by an own key, under a published kid") { good, _ in
            let input = good.input(header: [("alg", "PS256")])
            let block = try Issuer.Request.message(Array(input.utf8), .ps256).block()
            return try input + "."
                + Base64URL.encode(Attacker.rsaKey().signature(ofBlock: block))
        },
        forged("T16", "no alg, signed by an own key") { _ in [("alg", nil)] },
        forged("T16", "alg is an array, signed by an own key", false) { _ in
            [("alg", ["none", "RS256"])]
        },
        forged("T16", "alg rs256, signed by an own key", false) { _ in [("alg", "rs256")] },
        header("T16", "no alg, well signed", use: .vectors) { _ in [("alg", nil)] },
        header("T16", "alg is an array, well signed", use: .vectors) { _ in [("alg", ["RS256"])] },
        header("T16", "alg rs256, well signed", use: .vectors) { _ in [("alg", "rs256")] },
        text("T16", "RS384 by the published key", use: .vectors, result: .acceptable) {
            good, issuer in
            try await good.signed(
                good.input(header: [("alg", "RS384")]), by: issuer, .rs384)
        },
        text("T16", "PS256 by the published key", use: .vectors, result: .acceptable) {
            good, issuer in
            try await good.signed(
                good.input(header: [("alg", "PS256")]), by: issuer, .ps256)
        },
    ]

    /// PKCS#1 v1.5 paddings that a lenient verifier takes (RFC 8017 §8.2.2).
    static let lenient: [BadToken] = [
        padding("eight bytes of padding, then what nobody reads after the hash") { info in
            let start = [0, 1] + [UInt8](repeating: 0xFF, count: 8) + [0] + info
            return start + [UInt8](repeating: 0, count: 256 - start.count)
        },
        padding("the DigestInfo without the NULL of its algorithm") { info in
            // SEQUENCE and AlgorithmIdentifier are two bytes shorter.
            RSAEncoding.pkcs1(
                [0x30, 0x2F, 0x30, 0x0B] + Array(info[4..<15]) + Array(info[17...]))
        },
        padding("a length in BER's long form") { info in
            RSAEncoding.pkcs1([0x30, 0x81] + Array(info.dropFirst()))
        },
        padding("a padding of zeros in place of FF") { info in
            RSAEncoding.pkcs1(info).enumerated().map { place, byte in
                (2..<256 - info.count - 1).contains(place) ? 0 : byte
            }
        },
    ]

    private static func padding(
        _ comment: String, _ block: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> BadToken {
        text("T14", comment, use: .vectors) { good, issuer in
            let input = good.parts[0] + "." + good.parts[1]
            let info = try RSAEncoding.digestInfo256(Array(input.utf8))
            return try await input + "."
                + Base64URL.encode(issuer.signature(ofBlock: block(info)))
        }
    }
}
