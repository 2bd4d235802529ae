import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// One thing wrong with a client_secret, and what the log says of it.
struct SpoiledSecret: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let verdict: String
    let spoil: @Sendable (inout SecretDraft) -> Void

    init(
        _ name: String, _ verdict: String, _ spoil: @escaping @Sendable (inout SecretDraft) -> Void
    ) {
        testDescription = name
        self.verdict = verdict
        self.spoil = spoil
    }
}

extension SpoiledSecret {
    static let all = forms + names + times

    private static let now = EmulatorHarness.start.seconds

    private static let forms = [
        SpoiledSecret("no JWT", "it has no dot") { $0.spoilText = { _ in "clientSecret" } },
        SpoiledSecret("five parts", "it has 5 parts") { $0.spoilText = { $0 + ".x.y" } },
        SpoiledSecret("padded", "its signature is not base64url") { $0.spoilText = { $0 + "=" } },
        SpoiledSecret("header is not JSON", "its header") {
            $0.spoilText = { "e30K" + $0.dropFirst(2) }
        },
        SpoiledSecret("HS256", "alg is 'HS256', must be ES256") { $0.header("alg", "HS256") },
        SpoiledSecret("alg none", "alg is 'none', must be ES256") { $0.header("alg", "none") },
        SpoiledSecret("alg missing", "alg is missing, must be ES256") { $0.header("alg", nil) },
        SpoiledSecret("kid missing", "kid is missing from the header") { $0.header("kid", nil) },
        SpoiledSecret("kid unknown", "kid 'ZZZZZZZZZZ' is not a key of this team") {
            $0.header("kid", "ZZZZZZZZZZ")
        },
        SpoiledSecret("kid with a Kelvin sign", "kid '\u{212A}1L2M3N4P5' is not a key of this team")
        {
            $0.header("kid", "\u{212A}1L2M3N4P5")
        },
        SpoiledSecret("DER signature", "signature is DER, not r||s") {
            $0.spoilSignature = { $0.derRepresentation }
        },
        SpoiledSecret("short signature", "signature has 63 bytes, must have 64") {
            $0.spoilSignature = { $0.rawRepresentation.dropLast() }
        },
        SpoiledSecret("another signature", "signature does not verify with key K1L2M3N4P5") {
            $0.spoilSignature = { $0.rawRepresentation.reversed() }
        },
    ]

    private static let names = [
        SpoiledSecret("iss missing", "iss is missing, must be 'A1B2C3D4E5'") {
            $0.claim("iss", nil)
        },
        SpoiledSecret("another team", "iss is 'ZZZZZZZZZZ', must be 'A1B2C3D4E5'") {
            $0.claim("iss", "ZZZZZZZZZZ")
        },
        SpoiledSecret("another sub", "sub is 'com.example.web', must be 'com.example.app'") {
            $0.claim("sub", .string(EmulatorHarness.web))
        },
        SpoiledSecret("sub in capitals", "sub is 'com.example.APP'") {
            $0.claim("sub", "com.example.APP")
        },
        SpoiledSecret("sub with the Team ID", "sub is 'A1B2C3D4E5.com.example.app'") {
            $0.claim("sub", "A1B2C3D4E5.com.example.app")
        },
        SpoiledSecret("aud missing", "aud is missing") { $0.claim("aud", nil) },
        SpoiledSecret("aud with a slash", "aud is 'https://appleid.apple.com/'") {
            $0.claim("aud", "https://appleid.apple.com/")
        },
        SpoiledSecret("aud in an array of two", "aud is an array") {
            $0.claim("aud", ["https://appleid.apple.com", "https://appleid.apple.com"])
        },
        SpoiledSecret("aud in an empty array", "aud is an array") { $0.claim("aud", []) },
        SpoiledSecret("another aud in an array", "aud is 'https://appleid.apple.com/'") {
            $0.claim("aud", ["https://appleid.apple.com/"])
        },
    ]

    private static let times = [
        SpoiledSecret("exp missing", "exp is missing") { $0.claim("exp", nil) },
        SpoiledSecret("exp as a string", "exp is a string, must be a whole number") {
            $0.claim("exp", .string("\(now + 300)"))
        },
        SpoiledSecret("exp with a fraction, as a string", "exp is a string, must be a whole number")
        {
            $0.claim("exp", .string("\(now + 300).5"))
        },
        SpoiledSecret("exp in milliseconds", "exp is in milliseconds") {
            $0.claim("exp", .integer((now + 300) * 1000))
        },
        SpoiledSecret("expires this second", "expired 0 seconds ago") {
            $0.claim("exp", .integer(now))
        },
        SpoiledSecret("expired", "expired 1 second ago") { $0.claim("exp", .integer(now - 1)) },
        SpoiledSecret(
            "six months and a second",
            "exp is 182 days 14 hours 30 minutes 1 second ahead, at most 182 days"
        ) {
            $0.claim("exp", .integer(now + 15_777_001))
        },
        SpoiledSecret("iat missing", "iat is missing") { $0.claim("iat", nil) },
        SpoiledSecret("iat in milliseconds", "iat is in milliseconds") {
            $0.claim("iat", .integer(now * 1000))
        },
        SpoiledSecret("iat ahead", "iat is 6 seconds in the future: the client's clock is ahead") {
            $0.claim("iat", .integer(now + 6))
        },
        SpoiledSecret("nbf ahead", "nbf is 6 seconds in the future: the client's clock is ahead") {
            $0.claim("nbf", .integer(now + 6))
        },
        SpoiledSecret("nbf is no number", "nbf is a boolean") { $0.claim("nbf", true) },
    ]
}
