import Foundation
import JOSE
import Lifecycle
import TestSupport
import Testing

@testable import TokenVault

/// A vault that siwa 0.1 made, as the command line meets it.
@Suite(.timeLimit(.minutes(5)), .blocking) struct VaultConversionTests {
    private static let keys = """
        1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
        2 202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f
        """

    /// The statements that make the old vault, of the fixture of MigrationTests.
    private func statements(_ backend: VaultBackend) throws -> [String] {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../TokenVaultTests/Fixtures/vault-2.\(backend.rawValue).sql")
        return try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("--") }.joined(separator: "\n")
            .components(separatedBy: ";\n").filter { $0.contains { !$0.isWhitespace } }
    }

    @Test(arguments: VaultBackend.available)
    func `the check that converts the records counts each token once`(
        _ backend: VaultBackend
    ) async throws {
        let folder = try TemporaryFolder()
        let running = try await backend.start(in: folder, on: nil)
        if backend == .sqlite { try folder.write("vault.db", "") }
        let connector = try connector(of: running.url, timeout: .eachStatement(.seconds(60)))
        let database = try connector.connect(creating: false)
        for statement in try statements(backend) { _ = try database.run(statement) }
        let keyFile = try folder.write("vault.key", Self.keys)
        #expect(chmod(keyFile, 0o600) == 0)
        let siwa = try Executable.product("siwa")
        // The first converts the records, the second finds them converted.
        for keys: JSON in [["1": 2, "2": 3], ["2": 5]] {
            let result = try await siwa.run(
                "vault", "check",
                environment: [
                    "SIWA_VAULT_URL": running.url, "SIWA_VAULT_KEY_FILE": keyFile,
                    "HOME": folder.path,
                ])
            #expect(result.exitCode == 0, "\(result)")
            let json = try result.json
            #expect(json["records"] == 5 && json["users"] == 5, "\(result)")
            #expect(json["keys"] == keys, "\(result)")
        }
    }
}
