import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct SecretsTests {
    static let word = "hunter2-hunter2-hunter2"

    /// All types that contain a secret, with the same secret.
    static let holders: [Row<any Sendable>] = {
        let text = SecretText(word)
        let form = Form([("token", .secret(text))])
        var holders: [Row<any Sendable>] = [
            Row("SecretBytes", SecretBytes(word.utf8)), Row("SecretText", text),
            Row("AuthorizationCode", AuthorizationCode(text)),
            Row("RefreshToken", RefreshToken(text)),
            Row("AccessToken", AccessToken(text)), Row("CodeVerifier", CodeVerifier(text)),
            Row("an optional", Optional(RefreshToken(text)) as any Sendable),
            Row("an array", [RefreshToken(text)]), Row("Form", form),
            Row("Form.Value", Form.Value.secret(text)),
            Row("HTTPRequest", HTTPRequest(method: .post, url: "https://x", body: form.encoded())),
            Row("TokenRequest.refresh", TokenRequest.refresh(RefreshToken(text))),
            Row("TokenRequest.revoke", TokenRequest.revoke(text, .accessToken)),
            Row(
                "TokenRequest.exchange",
                TokenRequest.exchange(
                    AuthorizationCode(text), redirectURI: nil, codeVerifier: CodeVerifier(text))),
            Row(
                "Binding",
                TokenBinding(
                    nonce: text, code: AuthorizationCode(text), accessToken: AccessToken(text))),
        ]
        let body = #"{"access_token":"\#(word)","refresh_token":"\#(word)","id_token":"\#(word)"}"#
        if let response = TokenResponse(Array(body.utf8)) {
            holders.append(Row("TokenResponse", response))
        }
        let answer = HTTPResponse(status: 200, body: Array(body.utf8))
        holders.append(Row("HTTPResponse", answer))
        holders.append(Row("TraceEvent", TraceEvent.answered(answer, after: .zero)))
        if let key = try? Example.signingKey() { holders.append(Row("SigningKey", key)) }
        return holders
    }()

    @Test(arguments: holders)
    func `the description and dump of a secret's holder contain no secret`(_ row: Row<any Sendable>)
    {
        var dumped = ""
        dump(row.value, to: &dumped)
        for shown in ["\(row.value)", String(reflecting: row.value), dumped] {
            #expect(!shown.contains("hunter2"), "\(shown)")
            #expect(!shown.contains("104, 117, 110"), "in decimal: \(shown)")
        }
    }

    @Test func `every type that holds a secret is tested`() { #expect(Self.holders.count == 19) }

    @Test func `the fingerprint has 12 digits of SHA-256`() throws {
        let digest = try SHA256.digest(Self.word).hexadecimal
        #expect(SecretText(Self.word).fingerprint == String(digest.prefix(12)))
        #expect("\(SecretText(Self.word))" == "sha256:\(digest.prefix(12))")
        #expect("\(RefreshToken(SecretText(Self.word)))" == "sha256:\(digest.prefix(12))")
        #expect(SecretText("").fingerprint == "e3b0c44298fc")
    }

    @Test func `the description of a client_secret contains its ids and not its text`() throws {
        let secret = try Example.client().mintedSecret(at: Example.now)
        var dumped = ""
        dump(secret, to: &dumped)
        for shown in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(!shown.contains("eyJ"))
            #expect(shown.contains(secret.text.fingerprint))
        }
    }

    @Test func `secret text is read back unchanged`() {
        let text = SecretText("a\u{E9}\0b")
        #expect(text.revealed() == "a\u{E9}\0b")
        #expect(text.bytes.count == 5)
        #expect(text.hasPrefix("a") && text.hasPrefix("") && !text.hasPrefix("b"))
        #expect(!SecretText("e").hasPrefix("eyJ"))
    }
}
