import Foundation
import SIWATestSupport
import Testing

/// `siwa-emulator conform` against the sample backend of Tests/Clients/conform, which needs PyJWT.
@Suite(.blocking) struct ConformTests {
    private static let check = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Clients/conform/check.py").standardized.path

    /// An interpreter that has PyJWT with its RSA.
    private static func python() async throws -> Executable? {
        guard let python = Executable.installed("python3") else { return nil }
        let found = try await python.run(Executable.Call(["-c", "import jwt, cryptography"]))
        return found.exitCode == 0 ? python : nil
    }

    /// All of its bugs take four minutes: `make test-clients CLIENTS=conform`.
    @Test(
        .enabled("PyJWT with cryptography is not installed") { try await Self.python() != nil })
    func `a sound backend fails no check, and one with a bug those that are about it`()
        async throws
    {
        let python = try #require(try await Self.python())
        let emulator = try Executable.product("siwa-emulator").path
        let result = try await python.run(
            Executable.Call(
                [Self.check, emulator, "--quick"],
                environment: ["PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"],
                limit: .seconds(300)))
        #expect(result.exitCode == 0 && result.output == "as expected\n", "\(result)")
    }
}
