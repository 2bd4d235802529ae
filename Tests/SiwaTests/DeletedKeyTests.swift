import SIWATestSupport
import Testing

/// A vault whose list of keys was deleted from the database.
@Suite(.blocking) struct DeletedKeyTests {
    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `if the list of keys is empty, check recommends rekey, which registers the key again`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 2, all: .migrates))
        _ = try await fixture.store([1, 2])
        try fixture.run("DELETE FROM vault_key")
        let check = ["vault", "check"]
        let damaged = try await fixture.apple.siwa(check, environment: fixture.environment)
        #expect(damaged.exitCode == 3)
        #expect(damaged.errors.contains("hint: run 'siwa vault rekey'"), "\(damaged)")
        let key = try fixture.apple.folder.write(
            "foreign.key", "9 " + String(repeating: "ab", count: 32))
        let foreign = try await fixture.apple.siwa(
            ["vault", "rekey"],
            environment: fixture.environment.merging(["SIWA_VAULT_KEY_FILE": key]) { $1 })
        #expect(foreign.exitCode == 3, "\(foreign)")
        #expect(foreign.errors.contains("no record of the vault can be decrypted"), "\(foreign)")
        let rekey = try await fixture.apple.siwa(
            ["vault", "rekey"], environment: fixture.environment)
        #expect(rekey.exitCode == 0, "\(rekey)")
        let healed = try await fixture.apple.siwa(check, environment: fixture.environment)
        #expect(healed.exitCode == 0, "\(healed)")
        #expect(try fixture.opened().count == 2)
    }
}
