import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// The clients of docs/clients, each run by its own interpreter.
@Suite(.blocking) struct ClientLanguagesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/clients")

    @Test(arguments: [
        ("node", ["--input-type=module", "-"], "siwa.ts"), ("python3", ["-"], "siwa.py"),
        ("php", [], "siwa.php"),
    ])
    func `a client of ten lines signs a user in and deletes the account`(
        _ program: String, _ arguments: [String], _ file: String
    ) async throws {
        // Machines may lack it.
        guard let interpreter = Executable.installed(program) else { return }
        let fixture = try await ServerFixture()
        try fixture.configure([.init("api", ["listen": "127.0.0.1:0"])])
        let server = try await fixture.serve()
        let token = try await fixture.run(
            ["token", "add", "app", "--scope", "exchange", "--scope", "revoke"])
        let source = try Data(contentsOf: Self.folder.appending(path: file))
        let result = try await interpreter.run(
            Executable.Call(
                arguments,
                environment: [
                    "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "SIWA_API": "http://\(try server.place("api"))",
                    "SIWA_TOKEN": String(token.output.dropLast()),
                    "CODE": try await fixture.code(of: 1),
                ], input: .bytes(Array(source)), limit: .seconds(120)))
        #expect(result.output == "\(fixture.vault.people.userID(1)) true\n", "\(result)")
    }
}
