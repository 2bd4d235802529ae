import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The known causes of `invalid_client`, each alone, with an Apple that gives no reason.
@Suite struct InvalidClientTests {
    @Test(arguments: KnownCause.all)
    func `siwa explains why Apple answers invalid_client`(_ cause: KnownCause) async throws {
        let harness = try await CommandHarness()
        try await cause.prepare(harness)
        if let foreign = cause.foreign {
            let secret = try await Self.secret(foreign, cause)
            #expect(try await Self.send(secret, foreign, to: harness)["error"] == "invalid_client")
            harness.memory.with { $0.files["/tmp/secret"] = .init(contents: Array(secret.utf8)) }
        }
        if let command = cause.command { try await Self.exchange(command, cause, at: harness) }
        if cause.isSeenOffline { try await Self.examine(cause, [], at: harness) }
        try await Self.examine(cause, ["--online"], at: harness)
    }

    @Test func `thirteen causes are tested`() {
        #expect(KnownCause.all.count == 13, "one of the twelve has two faces")
        #expect(Set(KnownCause.all.map(\.testDescription)).count == KnownCause.all.count)
    }

    /// Offline, the cause itself; online, the combination that Apple accepts, which is more
    /// certain.
    private static func examine(_ cause: KnownCause, _ extra: [String], at harness: CommandHarness)
        async throws
    {
        let outcome = await harness.run(["doctor", "--json"] + cause.doctor + extra)
        let report = try JSON(text: outcome.output)
        let found = report["cause"]?["code"]?.string.flatMap(FindingCode.init)
        let isSettled = found == .otherAccepted && !extra.isEmpty && cause.command != nil
        #expect(found == cause.code || isSettled, "\(outcome.output)")
        let passes = cause.code == .requestForm
        #expect(outcome.exitCode == (passes ? 0 : 1))
        #expect(report["verdict"] == (passes ? "passed" : "failed"))
    }

    private static func exchange(
        _ command: [String], _ cause: KnownCause, at harness: CommandHarness
    ) async throws {
        let isWeb = command.contains("--redirect-uri")
        let signIn = try await harness.signIn(
            isWeb ? "com.example.web" : "com.example.app",
            isWeb ? ["redirect_uri": "https://example.com/callback"] : [:])
        let outcome = await harness.run(["exchange", "--code", signIn.code] + command)
        #expect(outcome.exitCode == 4, "\(outcome)")
        let hints = outcome.errors.filter { $0.hasPrefix("hint: ") }
        #expect(hints.first?.contains(cause.hint) == true, "\(outcome.errors)")
        #expect(hints.dropLast().last?.contains("siwa doctor --online") == true)
        #expect(hints.last == "hint: see 'siwa help errors invalid_client'")
    }

    private static func secret(
        _ foreign: KnownCause.Foreign, _ cause: KnownCause
    ) async throws -> String {
        let fixtures = try await Fixtures.shared.value
        guard cause.code != .privateKeyPasted else { return fixtures.key }
        var draft = SecretDraft(
            foreign.clientID, of: TeamID(unchecked: "A1B2C3D4E5"),
            under: KeyID(unchecked: "K1L2M3N4P5"), at: Memory.start)
        foreign.spoil(&draft)
        let key = try PrivateKeyText(SecretBytes(fixtures.key.utf8)).privateKey()
        return try draft.minted(by: key)
    }

    /// What a program that is not siwa would send.
    private static func send(
        _ secret: String, _ foreign: KnownCause.Foreign, to harness: CommandHarness
    ) async throws -> JSON {
        let parameters = [
            ("client_id", foreign.clientID), ("client_secret", secret),
            ("grant_type", "client_credentials"), ("scope", "user.migration"),
        ]
        let form = Form(parameters.map { ($0, .plain($1)) }).encoded()
        let json = JSON.object(parameters.map { .init($0, .string($1)) }).bytes
        let request = HTTPRequest(
            method: .post, url: BaseURL.apple.url(of: .token),
            fields: [
                HTTPField("Content-Type", foreign.isJSON ? "application/json" : Form.contentType)
            ], body: foreign.isJSON ? SecretBytes(json) : form)
        let response = try await harness.wire.send(request, timeout: .seconds(5))
        #expect(response.status == 400)
        return try JSON(response.body)
    }
}
