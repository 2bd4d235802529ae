import SIWACrypto
import SIWASystem
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// Under `--strict`, root creates no output in a folder of another user, who could not open it.
@Suite struct ForeignOutputTests {
    @Test(arguments: [
        "secret --out /app/secret", "vault export --output /app/t",
        "batch revoke --input /siwa/t --output results",
        "batch refresh --vault --output /app/results",
        "batch verify --input /siwa/t --output /app/results",
        "migrate export --to-team OTHERTEAM0 --input /siwa/t --output /app/r",
        "doctor --online --report /app/report",
    ])
    func `a strict command creates no output in the folder of another user`(
        _ line: String
    ) async throws {
        let harness = try await CommandHarness()
        let keys = try VaultKeyRing.newLine(number: 1)
        try Vault.create(harness.vault, VaultKeyRing(keys))
        harness.memory.with {
            $0.isRoot = true
            $0.variables["SIWA_VAULT_URL"] = "sqlite:/siwa/vault.db"
            $0.files["/siwa/vault.key"] = .init(contents: keys.revealed())
            $0.files["/siwa/t"] = .init(contents: Array("r-token\n".utf8))
        }
        var world = harness.world
        world.files.requireOwnFolder = { path throws(FileError) in
            throw FileError(
                "create", path, reason: "its folder belongs to another user",
                remedy: remedyForOwner(of: "the folder", or: "a folder of your own"))
        }
        #expect(
            await runSIWA(line.split(separator: " ").map(String.init) + ["--strict"], in: world)
                == 3)
        let errors = harness.memory.with { $0.errors.joined(separator: "\n") }
        #expect(errors.contains("its folder belongs to another user"), "\(errors)")
        #expect(harness.memory.with { $0.written.isEmpty })
    }

    @Test func `root is told the whole command`() {
        let diagnosis = Diagnosis(
            .configuration, "no",
            hints: [remedyForOwner(of: "the folder", or: "a folder of your own")],
            exitCode: .settings)
        let root = ServiceWords(isService: true)
        #expect(
            root.shown(diagnosis, of: "siwa-server check").hints == [
                "run the command as the owner of the folder: 'siwa-admin siwa-server check' is as "
                    + "the service, on its files; or use a folder of your own"
            ])
        #expect(
            root.shown(diagnosis, of: "siwa vault check").hints.first?
                .contains("'siwa-admin vault check' is as the service") == true)
        let service = ServiceWords(copies: "/run/c/", isService: true)
        #expect(service.shown(diagnosis, of: "siwa vault check").hints == diagnosis.hints)
    }
}
