import SIWACrypto
import SIWADiagnosis
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct InspectionTests {
    private typealias Kind = Recognition.Kind

    @Test(arguments: jwts) func `a JWT is recognised by its contents`(
        _ row: Row<(header: JSON, claims: JSON, kind: Recognition.Kind, name: String)>
    ) throws {
        let text = CompactJWS.sign(header: row.value.header, payload: row.value.claims) { _ in
            [UInt8](repeating: 7, count: 64)
        }
        let inspection = Self.inspect(SecretText(text))
        #expect(inspection.recognition.kind == row.value.kind)
        #expect(inspection.recognition.name.contains(row.value.name))
        #expect(inspection.token?.payload == row.value.claims)
    }

    @Test(arguments: texts) func `other values are recognised by their shape`(
        _ row: Row<(text: String, kind: Recognition.Kind, name: String)>
    ) {
        let inspection = Self.inspect(SecretText(row.value.text))
        #expect(inspection.recognition.kind == row.value.kind)
        #expect(
            inspection.recognition.name.contains(row.value.name),
            "\(inspection.recognition.name)")
        #expect(inspection.token == nil && inspection.findings.isEmpty)
    }

    @Test func `of a .p8, only the public half is shown`() throws {
        let inspection = Self.inspect(SecretText(keyFile("apple")))
        let point = try Example.privateKey().publicKey.x963Representation
        #expect(inspection.recognition.publicKey?.x963Representation == point)
    }

    @Test func `a client_secret has the findings of a client_secret`() throws {
        var draft = ClientSecretFindingsTests.draft()
        draft.claim("aud", "https://account.apple.com")
        draft.spoilText = { " \($0)" }
        let text = SecretText(try draft.minted(by: Example.privateKey()))
        let inspection = Inspection(
            of: text, expecting: try ClientSecretFindingsTests.expected(), at: Example.now)
        #expect(inspection.recognition.kind == .clientSecret)
        #expect(inspection.findings.map(\.code) == [.wrapped, .wrongAudience])
        #expect(inspection.expiresAt == Example.now + .seconds(300))
    }

    @Test func `a truncated JWT is reported as a finding`() throws {
        let text = try Example.client().mintedSecret(at: Example.now).text.revealed()
        let inspection = Self.inspect(SecretText(String(text.dropLast(90))))
        #expect(inspection.recognition.kind == .other)
        #expect(inspection.findings.map(\.code) == [.malformed])
    }

    @Test func `a notification is found in its body`() throws {
        let jwt = Self.token(["iss": "https://appleid.apple.com", "events": "{}"])
        let inspection = Self.inspect(SecretText(#"{"payload": "\#(jwt)"}"#))
        #expect(inspection.recognition.kind == .notification)
        #expect(inspection.token?.payload["events"] == "{}")
    }

    @Test func `an identity token is compared with the properties of Apple's tokens`() throws {
        let good: JSON = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app",
            "exp": .integer(Example.now.seconds + 60),
        ]
        #expect(Self.findings(Self.token(good)) == [])
        let old: JSON = [
            "iss": "https://account.apple.com", "aud": "com.example.web",
            "exp": .integer(Example.now.seconds),
        ]
        #expect(Self.findings(Self.token(old)) == [.wrongIssuer, .wrongAudience, .expired])
        #expect(Self.findings(Self.token(good, algorithm: "HS256")) == [.wrongAlgorithm])
    }

    @Test func `an identity token can be for any of the audiences`() {
        let token = Self.token(["iss": "https://appleid.apple.com", "aud": "com.example.web"])
        let expected = ExpectedClient(
            clientID: Example.clientID, audiences: ["com.example.app", "com.example.web"])
        let inspection = Inspection(of: SecretText(token), expecting: expected, at: Example.now)
        #expect(inspection.findings == [])
    }

    @Test func `an invalid expiry counts as absent`() {
        for exp: JSON in [nil, "soon", .number("1e300"), .integer(.max), .null].compactMap(\.self) {
            let token = Self.token(["iss": "https://appleid.apple.com", "exp": exp])
            #expect(Self.inspect(SecretText(token)).expiresAt == nil)
        }
    }
}

// The tables.
extension InspectionTests {
    private static func inspect(_ text: SecretText) -> Inspection {
        Inspection(of: text, expecting: ExpectedClient(), at: Example.now)
    }

    private static func findings(_ token: String) -> [FindingCode] {
        let expected = ExpectedClient(clientID: Example.clientID)
        return Inspection(of: SecretText(token), expecting: expected, at: Example.now)
            .findings.map(\.code)
    }

    private static func token(_ claims: JSON, algorithm: String = "RS256") -> String {
        let header: JSON = ["kid": "K000000000", "alg": .string(algorithm)]
        return SecretText(CompactJWS.sign(header: header, payload: claims) { _ in [1] }).revealed()
    }

    private static let es256: JSON = ["alg": "ES256", "kid": "K1L2M3N4P5"]
    private static let rs256: JSON = ["alg": "RS256", "kid": "K000000000"]
    private static let apple: JSON = "https://appleid.apple.com"

    static let jwts: [Row<(header: JSON, claims: JSON, kind: Recognition.Kind, name: String)>] = [
        Row(
            "a secret",
            (es256, ["iss": "A1B2C3D4E5", "aud": apple, "sub": "com.a"], .clientSecret, "secret")),
        Row(
            "a secret with a wrong alg",
            (rs256, ["iss": "A1B2C3D4E5", "aud": apple, "sub": "com.a"], .clientSecret, "secret")),
        Row(
            "a secret without sub",
            (es256, ["iss": "A1B2C3D4E5", "aud": apple], .clientSecret, "secret")),
        Row(
            "an identity token",
            (rs256, ["iss": apple, "aud": "com.a", "sub": "1"], .identityToken, "identity")),
        Row("a notification", (rs256, ["iss": apple, "events": [:]], .notification, "notific")),
        Row(
            "App Store Connect",
            (es256, ["iss": "uuid", "aud": "appstoreconnect-v1"], .other, "App Store Connect API")),
        Row(
            "App Store Server",
            (
                es256, ["iss": "uuid", "aud": "appstoreconnect-v1", "bid": "com.a"], .other,
                "App Store Server API"
            )),
        Row("APNs", (es256, ["iss": "A1B2C3D4E5", "iat": 1], .other, "APNs")),
        Row("MusicKit", (es256, ["iss": "A1B2C3D4E5", "iat": 1, "exp": 2], .other, "MusicKit")),
        Row("MapKit", (es256, ["iss": "A1B2C3D4E5", "origin": "https://a"], .other, "MapKit")),
        Row(
            "WeatherKit",
            (
                ["alg": "ES256", "kid": "K1L2M3N4P5", "id": "A1B2C3D4E5.com.a"],
                ["iss": "A1B2C3D4E5", "sub": "com.a"], .other, "WeatherKit"
            )),
        Row(
            "Apple Ads",
            (es256, ["iss": "S", "aud": apple, "sub": "SEARCHADS.27"], .other, "Apple Ads")),
        Row(
            "Business Manager",
            (
                es256,
                [
                    "iss": "B", "sub": "BUSINESSAPI.1",
                    "aud": "https://account.apple.com/auth/oauth2/v2/token",
                ], .other, "Business"
            )),
        Row(
            "Google's",
            (
                rs256, ["iss": "https://accounts.google.com", "sub": "1", "aud": "x"], .other,
                "does not belong to Sign in with Apple"
            )),
    ]

    private static let middle = "0123456789abcdef0123456789abcdef.0.mzvy.AAAAAAAAAAAAAAAAAAAAAA"

    static let texts: [Row<(text: String, kind: Recognition.Kind, name: String)>] = [
        Row("a code", ("c" + middle, .authorizationCode, "code")),
        Row("a refresh token", ("r" + middle + "\n", .refreshToken, "refresh")),
        Row("an access token", ("a" + middle, .accessToken, "access")),
        Row("a .p8", (keyFile("apple"), .privateKey, "P-256")),
        Row("an RSA key", (keyFile("rsa"), .privateKey, "RSA")),
        Row("a public key", (keyFile("public"), .publicKey, "public key")),
        Row("a certificate", (keyFile("certificate"), .certificate, "certificate")),
        Row("a JWK Set", (#"{"keys": []}"#, .keySet, "JWK Set")),
        Row("a JWK", (#"{"kty": "EC"}"#, .publicKey, "JSON Web Key")),
        Row("a private JWK", (#"{"kty": "EC", "d": "x"}"#, .privateKey, "private key as a JSON")),
        Row("a shared JWK", (#"{"kty": "oct", "k": "x"}"#, .privateKey, "private key as a JSON")),
        Row("an answer", (#"{"access_token": "a", "id_token": "b"}"#, .tokenResponse, "answer")),
        Row("a refusal", (#"{"error": "invalid_client"}"#, .errorResponse, "OAuth error")),
        Row("a configuration", (#"{"profiles": {}}"#, .configuration, "configuration")),
        Row("other JSON", (#"{"hello": 1}"#, .other, "JSON")),
        Row("a JWE", ("eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", .encryptedToken, "JWE")),
        Row("anything", ("hello", .other, "an unknown format")),
        Row("nothing", ("", .other, "an unknown format")),
    ]
}
