import Foundation
import Glibc
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// What root has made in the folder of a service is given back by the command that is printed.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of another user"), .blocking)
struct OwnershipTests {
    @Test(arguments: [false, true])
    func `a vault that root has taken from the service is given back with chown`(
        whileOpen isOpen: Bool
    ) async throws {
        let setpriv = try #require(Executable.installed("setpriv"))
        let user = try #require(getpwnam("nobody")).pointee
        let folder = try TemporaryFolder()
        let environment = [
            "SIWA_VAULT_URL": "sqlite:" + folder.path("vault.db"),
            "SIWA_VAULT_KEY_FILE": folder.path("vault.key"), "HOME": folder.path,
        ]
        chown(folder.path, user.pw_uid, user.pw_gid)
        // The folder of the build may be one that others cannot enter.
        let program = folder.path("siwa")
        try FileManager.default.copyItem(
            atPath: try Executable.product("siwa").path, toPath: program)
        func siwa(_ arguments: String...) async throws -> ProgramResult {
            try await setpriv.run(
                Executable.Call(
                    [
                        "--reuid=\(user.pw_uid)", "--regid=\(user.pw_gid)", "--clear-groups", "--",
                        program,
                    ] + arguments, environment: environment))
        }
        let made = try await siwa("vault", "init")
        try #require(made.ending == .exit(0), "\(made)")
        var other: (any VaultStore)?
        if isOpen {
            other = try openVaultStore(
                "sqlite:" + folder.path("vault.db"), timeout: .eachStatement(.seconds(60)))
        }
        _ = try other?.keyChecks()
        let log = isOpen ? ["vault.db-shm", "vault.db-wal"] : []
        for name in ["vault.db", "vault.key"] + log {
            let path = folder.path(name)
            chown(path, 0, 0)
            let refused = try await siwa("vault", "check")
            #expect(refused.ending == .exit(3), "\(refused)")
            #expect(!refused.errors.contains("was "), "\(refused)")
            let start = try #require(refused.errors.range(of: "chown "), "\(refused)").lowerBound
            let command = String(refused.errors[start...].prefix { $0 != "\n" })
            #expect(command.hasPrefix("chown nobody:") && command.hasSuffix(path), "\(command)")
            let words = command.split(separator: " ").dropFirst().map(String.init)
            let chown = try #require(Executable.installed("chown"))
            _ = try await chown.run(Executable.Call(words))
            #expect(try await siwa("vault", "check").ending == .exit(0))
        }
        _ = try other?.keyChecks()
    }
}
