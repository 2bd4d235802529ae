internal import SIWACrypto
internal import SIWAJOSE

// Tokens under a good signature, with a wrong claim.
extension BadToken {
    static let audiences: [BadToken] = [
        claims("T20", "aud of an app of another team") { _ in [("aud", "com.attacker.app")] },
        claims("T21", "aud with a suffix") { [("aud", .string($0.audience + ".evil"))] },
        claims("T21", "the beginning of aud") {
            [("aud", .string(String($0.audience.dropLast())))]
        },
        claims("T21", "aud with something before it") { [("aud", .string("evil." + $0.audience))] },
        claims("T21", "aud in capital letters", false) {
            [("aud", .string($0.audience.uppercased()))]
        },
        claims("T21", "aud with a space", false) { [("aud", .string($0.audience + " "))] },
        claims("T22", "aud of another client of the same team") {
            let domain = $0.audience.split(separator: ".").dropLast().joined(separator: ".")
            return [("aud", .string(domain + ".unlisted-sibling"))]
        },
        claims("T23", "no aud") { _ in [("aud", nil)] },
        claims("T24", "aud is empty") { _ in [("aud", "")] },
        claims("T24", "aud is an empty array", false) { _ in [("aud", [])] },
        claims("T25", "aud is an array of this client alone") {
            [("aud", [.string($0.audience)])]
        },
        claims("T26", "aud is an array of this client and a stranger") {
            [("aud", [.string($0.audience), "com.attacker.app"])]
        },
    ]

    static let issuers: [BadToken] = [
        claims("T27", "another iss") { _ in [("iss", "https://attacker.example")] },
        claims("T27", "iss with a slash", false) { _ in [("iss", "https://appleid.apple.com/")] },
        claims("T27", "iss with http", false) { _ in [("iss", "http://appleid.apple.com")] },
        claims("T27", "iss in capital letters", false) { _ in
            [("iss", "https://APPLEID.APPLE.COM")]
        },
        claims("T27", "iss that begins like Apple's", false) { _ in
            [("iss", "https://appleid.apple.com.example")]
        },
        claims("T28", "no iss") { _ in [("iss", nil)] },
        claims("T29", "iss is Apple's other name") { _ in [("iss", "https://account.apple.com")] },
    ]

    static let times: [BadToken] = [
        claims("T30", "expired an hour ago") {
            [("iat", .integer($0.now - 90_000)), ("exp", .integer($0.now - 3600))]
        },
        claims("T30", "expired 61 days ago", false) {
            let past = $0.now - 61 * 86_400
            return [("iat", .integer(past - 86_400)), ("exp", .integer(past))]
        },
        claims("T31", "no exp") { _ in [("exp", nil)] },
        claims("T31", "exp is a string", false) {
            [("exp", .string(String($0.now + 86_400)))]
        },
        claims("T31", "exp is 2⁶³ - 1", false) { _ in [("exp", .integer(Int.max))] },
        text("T32", "exp has a fraction") { good, issuer in
            let marked = good.claims.changed([("exp", "EXP")]).text
            let payload = marked.replacingEvery("\"EXP\"", with: "\(good.now + 86_400).5")
            return try await good.signed(good.input(good.header.text, payload), by: issuer)
        },
        claims("T33", "iat is an hour ahead") {
            [("iat", .integer($0.now + 3600)), ("exp", .integer($0.now + 90_000))]
        },
        claims("T33", "no iat", result: .acceptable) { _ in [("iat", nil)] },
        claims("T34", "nbf is an hour ahead") { [("nbf", .integer($0.now + 3600))] },
    ]

    static let nonces: [BadToken] = [
        claims("T40", "the nonce of another sign-in") { _ in
            [("nonce", "6b3a55e0261b0304143f805a24924d0c1c44524821305f31d9277843b8a10f4e")]
        },
        claims("T41", "no nonce, though nonces are supported") { _ in [("nonce", nil)] },
        claims("T43", "nonce in the other form: raw for hashed, or hashed for raw") {
            guard let raw = $0.nonce, let claim = $0.claims["nonce"]?.string else {
                throw NotPossible("the sign-in has no nonce")
            }
            let hash = try SHA256.digest(raw).hexadecimal
            return [("nonce", .string(raw == claim ? hash : raw))]
        },
        claims("T44", "no nonce, and nonce_supported is false") { _ in
            [("nonce", nil), ("nonce_supported", false)]
        },
    ]

    static let hashes: [BadToken] = [
        BadToken("T50", "the c_hash of another code") { good, issuer in
            Made(
                try await good.signed(
                    claims: [("c_hash", "AAAAAAAAAAAAAAAAAAAAAA")], by: issuer),
                code: good.code)
        },
        BadToken("T51", "the at_hash of another access token") { good, issuer in
            Made(
                try await good.signed(
                    claims: [("at_hash", "AAAAAAAAAAAAAAAAAAAAAA")], by: issuer),
                accessToken: good.accessToken)
        },
    ]
}
