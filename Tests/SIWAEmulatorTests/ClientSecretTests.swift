import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// What Apple answers to a secret, good or bad: asked with the one grant that needs
/// nothing else.
@Suite struct ClientSecretTests {
    private static let now = EmulatorHarness.start.seconds

    @Test(arguments: SpoiledSecret.all) func `a faulty client_secret is refused`(
        _ row: SpoiledSecret
    ) async throws {
        let harness = try await EmulatorHarness()
        var draft = SecretDraft()
        row.spoil(&draft)
        #expect(try await ask(harness, draft) == Outcome("invalid_client"))
        let verdict = try await harness.verdict()
        #expect(verdict.hasPrefix("client_secret: \(row.verdict)"), "\(verdict)")
    }

    static let accepted = [
        SpoiledSecret("as minted", "") { _ in },
        SpoiledSecret("with typ", "") { $0.header("typ", "JWT") },
        SpoiledSecret("with jti", "") { $0.claim("jti", "x") },
        SpoiledSecret("exactly six months", "") { $0.claim("exp", .integer(now + 15_777_000)) },
        SpoiledSecret("iat within the tolerance", "") { $0.claim("iat", .integer(now + 5)) },
        SpoiledSecret("one second left", "") { $0.claim("exp", .integer(now + 1)) },
        SpoiledSecret("aud in an array of one", "") {
            $0.claim("aud", ["https://appleid.apple.com"])
        },
    ]

    @Test(arguments: accepted) func `an unusual but valid client_secret is accepted`(
        _ row: SpoiledSecret
    ) async throws {
        let harness = try await EmulatorHarness()
        var draft = SecretDraft()
        row.spoil(&draft)
        #expect(try await ask(harness, draft).status == 200)
    }

    @Test func `the switch refuses an array as aud, and nothing else`() async throws {
        let harness = try await EmulatorHarness(["audience_array": "refused"])
        var draft = SecretDraft()
        #expect(try await ask(harness, draft).status == 200)
        draft.claim("aud", ["https://appleid.apple.com"])
        #expect(try await ask(harness, draft) == Outcome("invalid_client"))
        #expect(try await harness.verdict().hasPrefix("client_secret: aud is an array"))
    }

    @Test func `a client_secret that the library mints is accepted`() async throws {
        let harness = try await EmulatorHarness()
        let client = Client(
            teamID: EmulatorHarness.team, clientID: ClientID(unchecked: EmulatorHarness.app),
            signingKey: SigningKey(harness.key, id: EmulatorHarness.keyID))
        let secret = try client.mintedSecret(at: EmulatorHarness.start).text.revealed()
        #expect(try await harness.token(Self.teamGrant(secret)).status == 200)
    }

    @Test func `an unknown client, a locked key and a revoked key are refused`() async throws {
        let harness = try await EmulatorHarness()
        #expect(
            try await harness.token(
                Self.teamGrant(try harness.secret("com.other")), as: "com.other")
                == Outcome("invalid_client"))
        #expect(try await harness.verdict() == "client_id: no client of team A1B2C3D4E5")
        _ = try await harness.token(
            Self.teamGrant(try harness.secret("com.example.locked")), as: "com.example.locked")
        #expect(try await harness.verdict().hasSuffix("is not configured for com.example.locked"))
        try await harness.control("keys/revoke", ["key_id": "K1L2M3N4P5"])
        #expect(try await ask(harness, SecretDraft()) == Outcome("invalid_client"))
        #expect(try await harness.verdict() == "client_secret: key K1L2M3N4P5 is revoked")
    }

    @Test func `a client_secret is checked with the emulator's clock and configured tolerance`()
        async throws
    {
        let harness = try await EmulatorHarness(["clock_skew_tolerance": 0])
        try await harness.control("clock", ["offset": "-2m"])
        #expect(try await ask(harness, SecretDraft()) == Outcome("invalid_client"))
        #expect(try await harness.verdict().contains("iat is 1 minute in the future"))
        try await harness.control("switches", ["clock_skew_tolerance": "1m"])
        #expect(try await ask(harness, SecretDraft()).status == 200)
    }

    private func ask(_ harness: EmulatorHarness, _ draft: SecretDraft) async throws -> Outcome {
        try await harness.token(Self.teamGrant(try draft.minted(by: harness.key)))
    }

    private static func teamGrant(_ secret: String) -> [(String, String)] {
        [
            ("client_secret", secret), ("grant_type", "client_credentials"),
            ("scope", "user.migration"),
        ]
    }
}
