import SIWACrypto
import SIWADiagnosis
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// One thing spoiled at a time, and the finding that must come first.
@Suite struct ClientSecretFindingsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: FindingCode
        /// A part of what was seen.
        let seen: String
        let spoil: @Sendable (inout SecretDraft) -> Void

        init(
            _ name: String, _ code: FindingCode, _ seen: String = "",
            _ spoil: @escaping @Sendable (inout SecretDraft) -> Void
        ) {
            (testDescription, self.code, self.seen, self.spoil) = (name, code, seen, spoil)
        }
    }

    @Test(arguments: times + signatures + names + texts)
    func `a fault of the client_secret is the first finding`(_ row: Case) throws {
        var draft = Self.draft()
        row.spoil(&draft)
        let found = try Self.findings(draft)
        #expect(found.first?.code == row.code, "\(found)")
        #expect(found.first?.seen.contains(row.seen) == true, "\(found)")
        #expect(found.allSatisfy { !$0.advice.isEmpty })
    }

    @Test(arguments: times + signatures + names + texts)
    func `a fault of the client_secret is the only finding`(_ row: Case) throws {
        var draft = Self.draft()
        row.spoil(&draft)
        #expect(try Self.findings(draft).count == 1)
    }

    @Test func `a valid client_secret has no findings`() throws {
        #expect(try Self.findings(Self.draft()) == [])
        let minted = try Example.client().mintedSecret(at: Example.now)
        #expect(Self.findings(in: minted.text, try Self.expected()) == [])
        var longest = Self.draft()
        longest.claim("exp", .integer(now + 15_777_000))
        #expect(try Self.findings(longest) == [])
    }

    /// Software in production sends nothing else.
    @Test func `an aud array with one element is a note, never a cause`() throws {
        var draft = Self.draft()
        draft.claim("aud", ["https://appleid.apple.com"])
        let found = try Self.findings(draft)
        #expect(found.map(\.code) == [.audienceArray])
        #expect(found.map(\.severity) == [.note])
        draft.claim("exp", .integer(now - 5))
        #expect(try Self.findings(draft).map(\.code) == [.expired, .audienceArray])
    }

    /// RFC 7519 allows it, and no recording shows what Apple does.
    @Test func `a fraction is a possible cause, and text in place of a number is a certain one`()
        throws
    {
        for (value, confidence) in [
            (JSON.number("\(now + 300).5"), Finding.Confidence.possible),
            (.string("\(now + 300)"), .certain),
        ] {
            var draft = Self.draft()
            draft.claim("exp", value)
            #expect(try Self.findings(draft).map(\.confidence) == [confidence])
        }
    }

    @Test func `settings that are unknown are not compared`() throws {
        let stranger = SecretDraft(
            "com.other", of: TeamID(unchecked: "TEAM000000"), under: KeyID(unchecked: "KEYID00000"),
            at: Example.now)
        let text = SecretText(try stranger.minted(by: P256PrivateKey.generate()))
        #expect(Self.findings(in: text, ExpectedClient()) == [])
        let compared = Self.findings(in: text, try Self.expected()).map(\.code)
        #expect(compared == [.wrongKey, .wrongKeyID, .wrongTeam, .wrongClient])
    }

    @Test func `the key that made the signature is named`() throws {
        let other = try P256PrivateKey.generate()
        var expected = try Self.expected()
        expected.otherKeys = [KnownKey("AuthKey_OTHER67890.p8", other.publicKey)]
        let found = Self.findings(in: SecretText(try Self.draft().minted(by: other)), expected)
        #expect(found.map(\.code) == [.wrongKey])
        #expect(found.first?.confidence == .certain)
        #expect(found.first?.seen.contains("AuthKey_OTHER67890.p8") == true)
    }

    @Test func `a signature of 64 bytes that begins like DER is r and s`() throws {
        var draft = Self.draft()
        draft.spoilSignature = { [0x30, 62] + $0.rawRepresentation.dropFirst(2) }
        #expect(try Self.findings(draft).map(\.code) == [.wrongKey])
    }

    @Test func `all faults are found at once, certain ones before likely ones`() throws {
        var draft = Self.draft()
        draft.claim("exp", .integer(now - 5))
        draft.claim("sub", "com.example.web")
        draft.claim("aud", "appstoreconnect-v1")
        draft.spoilSignature = { $0.derRepresentation }
        let found = try Self.findings(draft).map(\.code)
        #expect(found == [.expired, .derSignature, .wrongAudience, .wrongClient])
    }

    @Test func `a key that was pasted as an identifier is not shown`() throws {
        var draft = Self.draft()
        draft.header("kid", .string(keyFile("apple")))
        let found = try Self.findings(draft)
        #expect(found.map(\.code) == [.malformedID])
        // The bytes before it are the same in every key on P-256.
        let own = keyFile("apple").dropFirst("-----BEGIN PRIVATE KEY-----\n".count + 48).prefix(4)
        #expect(found.allSatisfy { !($0.seen + $0.advice).contains(own) })
    }

    @Test func `a megabyte of repeated prefixes is reported as malformed`() throws {
        for layer in ["\"", "Bearer ", "' "] {
            let text = SecretText(String(repeating: layer, count: 200_000))
            #expect(Self.findings(in: text, try Self.expected()).first?.code == .malformed)
        }
    }

    @Test(arguments: others) func `text that is not a client_secret is recognised`(
        _ row: Row<(String, FindingCode, String)>
    ) throws {
        let (text, code, seen) = row.value
        let found = Self.findings(in: SecretText(text), try Self.expected())
        #expect(found.map(\.code) == [code])
        #expect(found.first?.seen.contains(seen) == true, "\(found)")
    }
}

// The tables.
extension ClientSecretFindingsTests {
    private static let now = Example.now.seconds
    private var now: Int { Self.now }

    static func draft() -> SecretDraft {
        SecretDraft(
            Example.clientID.rawValue, of: Example.teamID, under: Example.keyID, at: Example.now)
    }

    static func expected() throws -> ExpectedClient {
        ExpectedClient(
            teamID: Example.teamID, clientID: Example.clientID, keyID: Example.keyID,
            key: KnownKey("apple.p8", try Example.privateKey().publicKey))
    }

    static func findings(_ draft: SecretDraft) throws -> [Finding] {
        let text = try draft.minted(by: Example.privateKey())
        return findings(in: SecretText(text), try expected())
    }

    static func findings(in text: SecretText, _ expected: ExpectedClient) -> [Finding] {
        ClientSecretFindings(in: text, expecting: expected, at: Example.now).all
    }

    static let times = [
        Case("expired", .expired, "5 minutes ago") { $0.claim("exp", .integer(now - 300)) },
        Case("expires this second", .expired) { $0.claim("exp", .integer(now)) },
        Case("a second over six months", .tooLong) { $0.claim("exp", .integer(now + 15_777_001)) },
        Case("six calendar months", .tooLong, "exp is 184 days ahead") {
            $0.claim("exp", .integer(now + 184 * 86_400))
        },
        Case("exp in milliseconds", .milliseconds, "exp counts") {
            $0.claim("exp", .integer((now + 300) * 1000))
        },
        Case("both in milliseconds", .milliseconds, "exp and iat count") {
            $0.claim("exp", .integer((now + 300) * 1000))
            $0.claim("iat", .integer(now * 1000))
        },
        Case("the largest exp there is", .milliseconds) { $0.claim("exp", .integer(.max)) },
        Case("exp as a string", .timeType, "exp is a string") {
            $0.claim("exp", .string("\(now + 300)"))
        },
        Case("exp with a fraction", .timeFraction, "exp has a fraction") {
            $0.claim("exp", .number("\(now + 300).5"))
        },
        Case("iat ahead", .notYetValid, "iat is 9 minutes in") {
            $0.claim("iat", .integer(now + 540))
        },
        Case("nbf ahead", .notYetValid, "nbf is 1 second in") {
            $0.claim("nbf", .integer(now + 1))
        },
        Case("the smallest exp there is", .expired) { $0.claim("exp", .integer(.min)) },
        Case("no exp", .missingMember, "exp is missing") { $0.claim("exp", nil) },
        Case("no iat", .missingMember, "iat is missing") { $0.claim("iat", nil) },
    ]

    static let signatures = [
        Case("DER", .derSignature) { $0.spoilSignature = { $0.derRepresentation } },
        Case("no signature", .unsigned) { $0.spoilSignature = { _ in [] } },
        Case("63 bytes", .signatureLength, "63 bytes") {
            $0.spoilSignature = { $0.rawRepresentation.dropLast() }
        },
        Case("another's", .wrongKey) { $0.spoilSignature = { $0.rawRepresentation.reversed() } },
        Case("E256", .wrongAlgorithm, "'E256'") { $0.header("alg", "E256") },
        Case("HS256", .wrongAlgorithm, "'HS256'") { $0.header("alg", "HS256") },
        Case("RS256", .wrongAlgorithm, "'RS256'") { $0.header("alg", "RS256") },
        Case("none", .wrongAlgorithm, "'none'") { $0.header("alg", "none") },
        Case("no alg", .wrongAlgorithm, "missing") { $0.header("alg", nil) },
    ]

    static let names = [
        Case("no kid", .missingMember, "kid is missing") { $0.header("kid", nil) },
        Case("another kid", .wrongKeyID, "'K000000000'") {
            $0.header("kid", "K000000000")
        },
        Case("kid of 9", .malformedID, "kid (Key ID) is 'K1L2M3N4P'") {
            $0.header("kid", "K1L2M3N4P")
        },
        Case("kid in small letters", .lowerCase) { $0.header("kid", "k1l2m3n4p5") },
        Case("kid with a space", .blanks, "kid (Key ID) has") { $0.header("kid", "K1L2M3N4P5 ") },
        Case("another team", .wrongTeam, "iss is 'TEAM000000'") { $0.claim("iss", "TEAM000000") },
        Case("client id in iss", .wrongTeam, "a client id") {
            $0.claim("iss", "com.example.app")
        },
        Case("no iss", .missingMember, "iss is missing") { $0.claim("iss", nil) },
        Case("iss in small letters", .lowerCase) { $0.claim("iss", "a1b2c3d4e5") },
        Case("iss with a line end", .blanks, "iss (Team ID) has") {
            $0.claim("iss", "A1B2C3D4E5\n")
        },
        Case("iss of 11", .malformedID) { $0.claim("iss", "A1B2C3D4E56") },
        Case("Key ID in iss", .keyAndTeamSwapped) { $0.claim("iss", "K1L2M3N4P5") },
        Case("Team ID in kid", .keyAndTeamSwapped) { $0.header("kid", "A1B2C3D4E5") },
        Case("iss and sub exchanged", .issuerAndSubjectSwapped) {
            $0.claim("iss", "com.example.app")
            $0.claim("sub", "A1B2C3D4E5")
        },
        Case("another client", .wrongClient, "not com.example.app") {
            $0.claim("sub", "com.example.web")
        },
        Case("client in capitals", .wrongClient) { $0.claim("sub", "com.example.APP") },
        Case("Team ID in sub", .wrongClient) { $0.claim("sub", "A1B2C3D4E5") },
        Case("no sub", .missingMember, "sub is missing") { $0.claim("sub", nil) },
        Case("Team ID before sub", .teamIDPrefix) { $0.claim("sub", "A1B2C3D4E5.com.example.app") },
        Case("sub with a space", .blanks) { $0.claim("sub", " com.example.app") },
        Case("no aud", .missingMember, "aud is missing") { $0.claim("aud", nil) },
        Case("aud with a slash", .wrongAudience) { $0.claim("aud", "https://appleid.apple.com/") },
        Case("aud of June 2025", .wrongAudience, "June 2025") {
            $0.claim("aud", "https://account.apple.com")
        },
        Case("aud of App Store Connect", .wrongAudience, "App Store Connect's") {
            $0.claim("aud", "appstoreconnect-v1")
        },
        Case("aud in an array of another", .wrongAudience, "an array") {
            $0.claim("aud", ["https://account.apple.com"])
        },
        Case("aud in an array of two", .wrongAudience, "an array") {
            $0.claim("aud", ["https://appleid.apple.com", "https://appleid.apple.com"])
        },
    ]

    static let texts = [
        Case("padded", .notBase64URL) { $0.spoilText = { $0 + "==" } },
        Case("quoted", .wrapped, "quotation marks") { $0.spoilText = { "\"\($0)\"" } },
        Case("Bearer", .wrapped, "'Bearer '") { $0.spoilText = { "Bearer " + $0 } },
        Case("two line ends", .wrapped, "spaces") { $0.spoilText = { $0 + "\n\n" } },
        Case("broken into lines", .wrapped, "line ends") {
            $0.spoilText = { $0.prefix(76) + "\n" + $0.dropFirst(76) }
        },
        Case("without its signature", .malformed, "cut off") {
            $0.spoilText = { $0.split(separator: ".").dropLast().joined(separator: ".") }
        },
        Case("with a dot at the end", .malformed, "4 parts") { $0.spoilText = { $0 + "." } },
        Case("not a token at all", .malformed) { $0.spoilText = { _ in "clientSecret" } },
        Case("nothing", .malformed) { $0.spoilText = { _ in "" } },
    ]

    static let others = [
        Row("a .p8", (keyFile("apple"), FindingCode.privateKeyPasted, "P-256")),
        Row(
            "a .p8 without armour",
            (
                keyFile("apple").split(separator: "\n").filter { !$0.hasPrefix("-") }.joined(),
                .privateKeyPasted, "P-256"
            )),
        Row(
            "a refresh token",
            (
                "r0123456789abcdef0123456789abcdef.0.mzvy.AAAAAAAAAAAAAAAAAAAAAA",
                .wrongTokenPasted, "a refresh token"
            )),
        Row(
            "a code",
            (
                "c0123456789abcdef0123456789abcdef.0.mzvy.AAAAAAAAAAAAAAAAAAAAAA",
                .wrongTokenPasted, "an authorization code"
            )),
        Row("an answer", (#"{"access_token": "a"}"#, .wrongTokenPasted, "an answer")),
        Row("a JWE", ("eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", .wrongTokenPasted, "JWE")),
    ]
}
