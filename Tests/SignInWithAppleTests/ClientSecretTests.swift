import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct ClientSecretTests {
    static let golden = """
        {"alg":"ES256","kid":"K1L2M3N4P5"}.{"aud":"https://appleid.apple.com","exp":1700000300,\
        "iat":1699999940,"iss":"A1B2C3D4E5","sub":"com.example.app"}
        """

    @Test func `the signing input equals the example byte for byte`() throws {
        let secret = try Example.client().mintedSecret(at: Example.now)
        let parts = secret.text.revealed().split(separator: ".")
        let decoded = try parts.prefix(2).map {
            String(decoding: try Base64URL.decode(String($0)), as: UTF8.self)
        }
        #expect(decoded.joined(separator: ".") == Self.golden)
        #expect(parts.count == 3)
    }

    @Test func `the signature has 64 bytes and verifies`() throws {
        let client = try Example.client()
        let jws = try CompactJWS(client.mintedSecret(at: Example.now).text.bytes.revealed())
        #expect(jws.signature.count == 64)
        let key = client.signingKey.publicKey
        #expect(try key.verifies(jws.signature, for: jws.signingInput))
    }

    @Test func `the members equal the contents of the token`() throws {
        let secret = try Example.client().mintedSecret(at: Example.now)
        #expect(secret.teamID == Example.teamID && secret.clientID == Example.clientID)
        #expect(secret.keyID == Example.keyID)
        #expect(secret.issuedAt == Example.now - .seconds(60))
        #expect(secret.expiresAt == Example.now + .seconds(300))
    }

    static let lifetimes: [Row<(Duration, ClientSecretError?)>] = [
        Row("nothing", (.zero, .tooShort(.zero))),
        Row("less than nothing", (.seconds(-1), .tooShort(.seconds(-1)))),
        Row("half a second", (.milliseconds(500), .tooShort(.milliseconds(500)))),
        Row("a second", (.seconds(1), nil)), Row("Apple's limit", (.seconds(15_777_000), nil)),
        Row("one second more", (.seconds(15_777_001), .tooLong(.seconds(15_777_001)))),
        Row(
            "a millisecond more",
            (.milliseconds(15_777_000_001), .tooLong(.milliseconds(15_777_000_001)))),
        Row("for ever", (.seconds(Int.max), .tooLong(.seconds(Int.max)))),
    ]

    @Test(arguments: lifetimes) func `a lifetime is accepted up to the maximum`(
        _ row: Row<(Duration, ClientSecretError?)>
    )
        throws
    {
        let client = try Example.client(lifetime: row.value.0)
        if let refusal = row.value.1 {
            #expect(throws: refusal) { try client.mintedSecret(at: Example.now) }
        } else {
            let secret = try client.mintedSecret(at: Example.now)
            #expect(secret.expiresAt - Example.now == row.value.0)
        }
    }

    @Test(arguments: [Int.min, 0, Int.max]) func `no time causes a trap`(_ seconds: Int) throws {
        let secret = try Example.client().mintedSecret(at: NumericDate(seconds))
        #expect(secret.issuedAt <= secret.expiresAt)
    }

    @Test func `a client recognises the secrets that it minted`() throws {
        let client = try Example.client()
        let minted = try client.mintedSecret(at: Example.now)
        let read = ClientSecret(
            minted: minted.text, by: client.signingKey, for: client.clientID, of: client.teamID)
        #expect(read?.issuedAt == minted.issuedAt)
        #expect(read?.expiresAt == minted.expiresAt)
        #expect(read?.text.revealed() == minted.text.revealed())
    }

    @Test func `a client recognises only secrets for its own settings`() throws {
        let client = try Example.client()
        let text = try client.mintedSecret(at: Example.now).text
        let other = SigningKey(try .generate(), id: Example.keyID)
        let renamed = client.signingKey.named(KeyID(unchecked: "XXXXXXXXXX"))
        func read(
            _ text: SecretText, by key: SigningKey? = nil,
            for clientID: ClientID = Example.clientID,
            of teamID: TeamID = Example.teamID
        ) -> ClientSecret? {
            ClientSecret(minted: text, by: key ?? client.signingKey, for: clientID, of: teamID)
        }
        #expect(read(text) != nil)
        #expect(read(text, by: other) == nil, "another key")
        #expect(read(text, by: renamed) == nil, "another Key ID")
        #expect(read(text, for: ClientID(unchecked: "com.example.web")) == nil, "another client")
        #expect(read(text, of: TeamID(unchecked: "XXXXXXXXXX")) == nil, "another team")
        for spoiled in [
            "", "x", "a.b.c", text.revealed() + "A", String(text.revealed().dropLast()),
        ] {
            #expect(read(SecretText(spoiled)) == nil, "\(spoiled)")
        }
    }

    /// Signed with the right key, but not as Apple wants it.
    static let foreign: [Row<(JSON, JSON)>] = {
        let header: JSON = ["alg": "ES256", "kid": "K1L2M3N4P5"]
        func claims(_ name: String, _ value: JSON?) -> JSON {
            let good: [(String, JSON)] = [
                ("aud", "https://appleid.apple.com"), ("exp", 1_700_000_300),
                ("iat", 1_699_999_940),
                ("iss", "A1B2C3D4E5"), ("sub", "com.example.app"),
            ]
            return .object(
                good.compactMap { member in
                    guard member.0 == name else { return JSON.Member(member.0, member.1) }
                    return value.map { JSON.Member(name, $0) }
                })
        }
        return [
            Row("another alg", (["alg": "ES384", "kid": "K1L2M3N4P5"], claims("", nil))),
            Row("no kid", (["alg": "ES256"], claims("", nil))),
            Row("another audience", (header, claims("aud", "https://example.com"))),
            Row("an array as audience", (header, claims("aud", ["https://appleid.apple.com"]))),
            Row("no exp", (header, claims("exp", nil))),
            Row("no iat", (header, claims("iat", nil))),
            Row("exp as a fraction", (header, claims("exp", .number("1700000300.5")))),
            Row("exp as a string", (header, claims("exp", "1700000300"))),
        ]
    }()

    @Test(arguments: foreign) func `a client does not recognise an invalid token of its own key`(
        _ row: Row<(JSON, JSON)>
    ) throws {
        let key = try Example.signingKey()
        let token = try CompactJWS.sign(header: row.value.0, payload: row.value.1) {
            try Example.privateKey().signature(for: $0).rawRepresentation
        }
        let read = ClientSecret(
            minted: SecretText(token), by: key, for: Example.clientID, of: Example.teamID)
        #expect(read == nil)
    }
}
