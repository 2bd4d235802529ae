import Foundation
import Glibc
import SIWATestSupport
import Testing

/// What root has made in the folder of a service is given back by the command that is printed.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of another user"), .blocking)
struct OwnershipTests {
    @Test func `a vault that root has taken from the service is given back with chown`()
        async throws
    {
        let setpriv = try #require(Executable.installed("setpriv"))
        let user = try #require(getpwnam("nobody")).pointee
        let folder = try TemporaryFolder()
        let environment = [
            "SIWA_VAULT_URL": "sqlite:" + folder.path("vault.db"),
            "SIWA_VAULT_KEY_FILE": folder.path("vault.key"), "HOME": folder.path,
        ]
        chown(folder.path, user.pw_uid, user.pw_gid)
        func siwa(_ arguments: String...) async throws -> ProgramResult {
            try await setpriv.run(
                Executable.Call(
                    [
                        "--reuid=\(user.pw_uid)", "--regid=\(user.pw_gid)", "--clear-groups", "--",
                        try Executable.product("siwa").path,
                    ] + arguments, environment: environment))
        }
        let made = try await siwa("vault", "init")
        // The program may be in a folder that others cannot enter.
        guard made.ending == .exit(0) else { return }
        for name in ["vault.db", "vault.key"] {
            let path = folder.path(name)
            chown(path, 0, 0)
            let refused = try await siwa("vault", "check")
            #expect(refused.ending == .exit(3), "\(refused)")
            let start = try #require(refused.errors.range(of: "chown "), "\(refused)").lowerBound
            let command = String(refused.errors[start...].prefix { $0 != "\n" })
            #expect(command.hasPrefix("chown nobody:") && command.hasSuffix(path), "\(command)")
            let words = command.split(separator: " ").dropFirst().map(String.init)
            let chown = try #require(Executable.installed("chown"))
            _ = try await chown.run(Executable.Call(words))
            #expect(try await siwa("vault", "check").ending == .exit(0))
        }
    }
}
