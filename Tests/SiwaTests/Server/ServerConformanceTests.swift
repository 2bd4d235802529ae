import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// siwa-server, beside what `siwa-emulator vectors` and `siwa-emulator conform` say must hold.
@Suite(.blocking) struct ServerConformanceTests {
    private static let clients = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Clients/conform").standardized.path

    @Test
    func `the call that verifies, and the endpoint for Apple, come to the result of each vector`()
        async throws
    {
        let fixture = try await ServerFixture()
        let result = try await Executable.product("siwa-emulator").run(
            Executable.Call(["vectors", "--audience", "com.example.app"]))
        let groups = try #require(JSON(text: result.output)["testGroups"]?.elements)
        var count = 0
        for group in groups {
            let keys = try fixture.apple.folder.write("keys.json", group["jwks"]?.text ?? "")
            let server = try await fixture.serve(
                fixture.listeners + [.init("jwks_file", .string(keys))])
            for test in group["tests"]?.elements ?? [] {
                count += 1
                let isAccepted =
                    group["type"] == "notification"
                    ? try await takes(server, test) : try await verifies(server, test, group)
                let comment = "\(test["flags"]?.text ?? "") \(test["comment"]?.text ?? "")"
                switch test["result"]?.string {
                case "valid": #expect(isAccepted, "\(comment)")
                case "invalid": #expect(!isAccepted, "\(comment)")
                default: break
                }
            }
            _ = try await server.stop()
        }
        #expect(groups.count > 7 && count > 190)
    }

    private func verifies(_ server: ServerProcess, _ test: JSON, _ group: JSON) async throws -> Bool
    {
        let members = [
            ("id_token", test["token"]), ("nonce", group["nonce"]), ("code", test["code"]),
            ("access_token", test["access_token"]),
        ]
        let answer = try await server.api(
            "POST", "/v1/verify",
            .object(members.compactMap { name, value in value.map { .init(name, $0) } }))
        // An empty token is a mistake in the request, and one of a megabyte is too large.
        guard answer.status == 200 else {
            #expect([400, 413].contains(answer.status ?? 0), "\(test["comment"]?.text ?? "")")
            return false
        }
        return try answer.json["valid"] == true
    }

    private func takes(_ server: ServerProcess, _ test: JSON) async throws -> Bool {
        let body: JSON = ["payload": test["token"] ?? ""]
        let answer = try await server.post(body.text)
        #expect((answer.status ?? 500) < 500, "\(test["comment"]?.text ?? ""): \(answer.status)")
        return answer.status == 200
    }

    @Test(.enabled(if: Executable.installed("python3") != nil, "Python is not installed"))
    func `an application that leaves everything to siwa-server fails no check of conform`()
        async throws
    {
        let fixture = try await ServerFixture()
        try fixture.configure([
            .init("notifications", ["listen": "127.0.0.1:0"]),
            .init("api", ["listen": "127.0.0.1:0"]),
        ])
        let server = try await fixture.serve()
        let scopes = ["exchange", "revoke", "read"].flatMap { ["--scope", $0] }
        let token = try await Executable.product("siwa-server").run(
            Executable.Call(
                ["token", "add", "app"] + scopes, environment: fixture.environment))
        let python = try #require(Executable.installed("python3"))
        let app = try python.start(
            Executable.Call(
                ["\(Self.clients)/app.py", "0"],
                environment: [
                    "SIWA_API": "http://\(try server.place("api"))",
                    "SIWA_TOKEN": String(token.output.dropLast()),
                    "NOTIFICATIONS":
                        "http://\(try server.place("notifications"))/apple/notifications",
                ], limit: .seconds(300)))
        defer { app.end() }
        try await eventually("the application listens") {
            (try? app.outputSoFar().contains("\n")) ?? false
        }
        let url = String(try app.outputSoFar().dropLast())
        let text = try String(contentsOfFile: "\(Self.clients)/app.json", encoding: .utf8)
            .replacingOccurrences(
                of: "\"http://127.0.0.1:PORT\"",
                with: """
                    "\(url)", "ca_file": "\(fixture.apple.folder.path("apple/ca.pem"))"
                    """)
        let file = try fixture.apple.folder.write("backend.json", text)
        let result = try await Executable.product("siwa-emulator").run(
            Executable.Call(
                [
                    "conform", file, "--emulator", fixture.apple.url, "--json", "--skip",
                    "T71=waits", "--require", "T01,N,D",
                ], limit: .seconds(300)))
        #expect(result.exitCode == 0, "\(result)")
        let results = try #require(JSON(text: result.output)["results"]?.elements)
        func ids(_ wanted: String) -> [String] {
            results.filter { $0["result"] == .string(wanted) }.compactMap { $0["id"]?.string }
        }
        #expect(ids("failed") == [] && ids("inconclusive") == [])
        // Without a key that is known, an exchange is decided by the other checks (docs/key-set.md).
        #expect(Set(ids("advice")).subtracting(["T04", "T06", "T43"]) == [])
        #expect(ids("held").count > 60)
    }
}
