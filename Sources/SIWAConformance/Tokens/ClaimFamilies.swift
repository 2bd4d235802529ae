internal import SIWAEmulator
internal import SIWAJOSE

// Tokens under a good signature, with a wrong claim.
extension BadToken {
    /// A token with changed claims.
    private static func claim(
        _ id: String, _ comment: String, _ isRepresentative: Bool = true,
        _ changes: @escaping @Sendable (GoodSignIn) -> [(String, JSON?)]
    ) -> BadToken {
        BadToken(id, comment, isRepresentative: isRepresentative) {
            try $0.signed(claims: changes($0))
        }
    }

    static let audiences: [BadToken] = [
        claim("T20", "aud of an app of another team") { _ in
            [("aud", "com.attacker.app")]
        },
        claim("T21", "aud with a suffix") { [("aud", .string($0.audience + ".evil"))] },
        claim("T21", "the beginning of aud") { [("aud", .string(String($0.audience.dropLast())))] },
        claim("T21", "aud in capital letters", false) {
            [("aud", .string($0.audience.uppercased()))]
        },
        claim("T21", "aud with a space", false) { [("aud", .string($0.audience + " "))] },
        claim("T22", "aud of another client of the same team") { _ in
            [("aud", "com.example.unlisted-sibling")]
        },
        claim("T23", "no aud") { _ in [("aud", nil)] },
        claim("T24", "aud is empty") { _ in [("aud", "")] },
        claim("T24", "aud is an empty array", false) { _ in [("aud", [])] },
        claim("T26", "aud is an array of this client and a stranger") {
            [("aud", [.string($0.audience), "com.attacker.app"])]
        },
    ]

    static let issuers: [BadToken] = [
        claim("T27", "another iss") { _ in [("iss", "https://attacker.example")] },
        claim("T27", "iss with a slash", false) { _ in [("iss", "https://appleid.apple.com/")] },
        claim("T27", "iss with http", false) { _ in [("iss", "http://appleid.apple.com")] },
        claim("T27", "iss that begins like Apple's", false) { _ in
            [("iss", "https://appleid.apple.com.example")]
        },
        claim("T28", "no iss") { _ in [("iss", nil)] },
    ]

    static let times: [BadToken] = [
        claim("T30", "expired an hour ago") {
            [("iat", .integer($0.now - 90_000)), ("exp", .integer($0.now - 3600))]
        },
        claim("T30", "expired 61 days ago", false) {
            let past = $0.now - 61 * 86_400
            return [("iat", .integer(past - 86_400)), ("exp", .integer(past))]
        },
        claim("T31", "no exp") { _ in [("exp", nil)] },
        claim("T31", "exp is a string of the past", false) {
            [("exp", .string(String($0.now - 3600)))]
        },
        claim("T33", "iat is an hour ahead") {
            [("iat", .integer($0.now + 3600)), ("exp", .integer($0.now + 90_000))]
        },
        claim("T34", "nbf is an hour ahead") { [("nbf", .integer($0.now + 3600))] },
    ]

    static let nonces: [BadToken] = [
        claim("T40", "the nonce of another sign-in") { _ in
            [("nonce", "6b3a55e0261b0304143f805a24924d0c1c44524821305f31d9277843b8a10f4e")]
        },
        claim("T41", "no nonce, though nonces are supported") { _ in [("nonce", nil)] },
        claim("T50", "the c_hash of another code") { _ in
            [("c_hash", "AAAAAAAAAAAAAAAAAAAAAA")]
        },
    ]

    static let otherTokens: [BadToken] = [
        BadToken("T52", "a genuine notification in place of the identity token") {
            $0.notification
        },
        BadToken("T53", "a token in the form of a client_secret") {
            try $0.signed(
                header: $0.header.text,
                payload: JSON.object([
                    .init("iss", "A1B2C3D4E5"), .init("sub", .string($0.audience)),
                    .init("aud", "https://appleid.apple.com"), .init("iat", .integer($0.now)),
                    .init("exp", .integer($0.now + 3600)),
                ]).text)
        },
        BadToken("T54", "an opaque access token in place of the identity token") { _ in
            "a0123456789abcdef0123456789abcdef.0.nrsz.AAAAAAAAAAAAAAAAAAAAAA"
        },
    ]

    static let shapes: [BadToken] = [
        claim("T60", "no sub") { _ in [("sub", nil)] },
        claim("T60", "sub is empty") { _ in [("sub", "")] },
        claim("T60", "sub is an object", false) { _ in [("sub", ["$ne": ""])] },
        BadToken("T61", "two alg in the header") {
            let header = #"{"alg":"none","kid":"\#($0.keys.signingKeyID)","alg":"RS256"}"#
            return try $0.signed(header: header, payload: $0.claims.text)
        },
        BadToken("T62", "crit names an extension that nobody knows") {
            try $0.signed(header: [("crit", ["urn:example:unknown"]), ("urn:example:unknown", 1)])
        },
        BadToken("T63", "b64 is false and critical") {
            try $0.signed(header: [("crit", ["b64"]), ("b64", false)])
        },
        BadToken("T64", "two parts") { $0.parts[0] + "." + $0.parts[1] },
        BadToken("T64", "four parts") { $0.token + ".AAAA" },
        BadToken("T64", "empty", isRepresentative: false) { _ in "" },
        BadToken("T65", "the payload is an array") {
            try $0.signed(header: $0.header.text, payload: "[\($0.claims.text)]")
        },
        BadToken("T65", "the payload is null", isRepresentative: false) {
            try $0.signed(header: $0.header.text, payload: "null")
        },
        BadToken("T66", "a header with 500 nested arrays") {
            let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
            let header = #"{"alg":"RS256","kid":"\#($0.keys.signingKeyID)","x":\#(deep)}"#
            return $0.input(header, $0.claims.text) + "." + $0.parts[2]
        },
    ]
}

extension GoodSignIn {
    /// The audience of the good token.
    fileprivate var audience: String { claims["aud"]?.string ?? "" }
}
