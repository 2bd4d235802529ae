import Foundation
import SIWAJOSE
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

    @Test func `every check that is critical or high fails for a bug of the sample backend`()
        async throws
    {
        let table = URL(filePath: Self.check).deletingLastPathComponent()
            .appending(path: "bugs.json")
        let bugs = try #require(JSON(Array(Data(contentsOf: table))).members)
        let failed = bugs.map { ($0.value.elements ?? []).compactMap(\.string) }
        #expect(failed.allSatisfy { !$0.isEmpty }, "a bug that no check finds")
        let found = Set(failed.joined().map { $0.prefix { $0 != "/" } })
        let list = try await Executable.product("siwa-emulator").run(
            Executable.Call(["conform", "--list"]))
        let grave = list.output.split(separator: "\n")
            .map { $0.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true) }
            .filter { $0.count > 2 && ["critical", "high"].contains($0[2]) }.map { $0[0] }
        #expect(grave.count > 30 && Set(grave).subtracting(found) == [])
    }
}
