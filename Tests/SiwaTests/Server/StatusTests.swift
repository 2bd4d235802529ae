import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa status`, `GET /v1/status` and `/readyz` of a running server.
@Suite(.blocking) struct StatusTests {
    @Test(arguments: VaultBackend.available)
    func `siwa status and the API show the same, with the problem first`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        let server = try await fixture.serve(
            fixture.listeners + [.init("jwks_file", "keys.json")])
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        func status() async throws -> ProgramResult {
            try await fixture.apple.siwa("status", "--json", environment: environment)
        }
        try await eventually("the facts are written") {
            try await status().output.contains("Apple's keys come from a file.")
        }
        let shown = try await status()
        #expect(shown.exitCode == 1, "\(shown)")
        let api = try await server.api("GET", "/v1/status")
        #expect(api.status == 200)
        let (mine, theirs) = (try JSON(text: shown.output), try JSON(text: api.body))
        for name in ["ok", "problems", "events", "revocations"] {
            #expect(mine[name] == theirs[name], "\(name)")
        }
        #expect(mine["servers"]?.elements?.count == 1)
        #expect(!api.body.contains(fixture.vault.people.userID(1)))
        #expect(try await server.stop().ending == .exit(0))
        try await eventually("no server runs") {
            try await status().output.contains("No siwa-server is running.")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `a server whose key table is missing is not ready`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        try fixture.vault.run("ALTER TABLE vault_key RENAME TO lost_key")
        try await eventually("it is not ready") {
            try await server.call("metrics", "GET", "/readyz").status == 503
        }
        #expect(try await server.stop().ending == .exit(0))
    }
}
