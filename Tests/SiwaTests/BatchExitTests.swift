import Foundation
import Glibc
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// How failed batches end.
@Suite(.timeLimit(.minutes(5))) struct BatchExitTests {
    /// An Apple, and a file with so many tokens that work.
    private func seeded(_ count: Int) async throws -> (apple: LocalApple, lines: [String]) {
        let apple = try await LocalApple()
        let users = try await apple.post("seed", ["users": .integer(count)])["users"]?.elements
        let lines = try #require(users).map { user in
            let members = ["id": user["user_id"] ?? .null, "token": user["refresh_token"] ?? .null]
            return JSON.object(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
                .text + "\n"
        }
        try apple.folder.write("tokens", lines.joined())
        return (apple, lines)
    }

    @Test func `if the output is closed, standard error names what was revoked`() async throws {
        let (apple, _) = try await seeded(400)
        let pipe = try NamedPipe(apple.folder.path("pipe"))
        let siwa = try apple.start(
            [
                "batch", "revoke", "--input", apple.folder.path("tokens"), "--rate", "10/s",
                "--json",
            ], output: .file(pipe.path))
        try await eventually("some are revoked") {
            try await apple.requests(to: "/auth/revoke").count > 5
        }
        try pipe.close()
        let result = try await siwa.result()
        #expect(result.exitCode == 74, "\(result)")
        let revoked = try await apple.requests(to: "/auth/revoke").count { $0["status"] == 200 }
        let last = try result.errors.split(separator: "\n").map { try JSON(text: String($0)) }
        let summary = try #require(last.compactMap { $0["summary"] }.first)
        #expect(summary["done"]?.integer == revoked && revoked < 400, "\(result)")
        // The pipe was not read.
        #expect(summary["not_delivered"]?.integer == revoked, "\(result)")
        let error = try #require(last.compactMap { $0["error"] }.first)
        #expect(error["code"] == "not_delivered", "\(result)")
        #expect(
            error["message"]?.string?.hasPrefix("\(revoked) items were finished") == true,
            "\(result)")
    }

    @Test func `an output that another process truncates leads to exit 74, and can be completed`()
        async throws
    {
        let (apple, lines) = try await seeded(60)
        let output = apple.folder.path("out")
        let call = ["batch", "revoke", "--input", apple.folder.path("tokens"), "--output", output]
        // Slow enough for a machine that is late by seconds.
        let siwa = try apple.start(call + ["--rate", "5/s"])
        try await eventually("some results are written") {
            (try? apple.folder.contents("out").count { $0 == 0x0A }) ?? 0 > 10
        }
        try #require(truncate(output, 0) == 0)
        let result = try await siwa.result()
        #expect(result.exitCode == 74, "\(result)")
        #expect(result.errors.contains("another process truncated it"), "\(result)")
        #expect(result.hints.last?.hasSuffix("run the same command with --resume") == true)
        #expect(try apple.folder.contents("out").count { $0 == 0x0A } < lines.count)
        let again = try await apple.siwa(call + ["--resume"])
        #expect(again.exitCode == 0, "\(again)")
        #expect(try apple.folder.contents("out").count { $0 == 0x0A } == lines.count)
    }

    @Test(arguments: [
        (
            "{\"line\":1}\n", "", "it is not empty",
            "to continue the run that wrote it, add --resume"
        ),
        (
            "a line\n", "--resume", "line 1 is not a batch result",
            "to continue an earlier run, name the file that it wrote with --output"
        ),
    ])
    func `an output that another run wrote is not changed, and a hint is printed`(
        _ text: String, _ flag: String, _ reason: String, _ hint: String
    ) async throws {
        let (apple, _) = try await seeded(1)
        try apple.folder.write("out", text)
        let output = apple.folder.path("out")
        let result = try await apple.siwa(
            ["batch", "revoke", "--input", apple.folder.path("tokens"), "--output", output]
                + [flag].filter { !$0.isEmpty })
        #expect(result.exitCode == 3, "\(result)")
        let lines = result.errors.split(separator: "\n").map(String.init)
        #expect(lines.first == "siwa: configuration: cannot write '\(output)': \(reason)")
        #expect(lines.dropFirst().first == "hint: \(hint)", "\(result)")
        #expect(String(decoding: try apple.folder.contents("out"), as: UTF8.self) == text)
        #expect(try await apple.requests().isEmpty)
    }

    @Test(arguments: ["refresh", "revoke"])
    func `temporarily failed items lead to exit 75, even with refusals`(
        _ command: String
    ) async throws {
        let (apple, _) = try await seeded(4)
        let endpoint = command == "refresh" ? "/auth/token" : "/auth/revoke"
        func run(_ output: String) async throws -> (CInt?, [String]) {
            let result = try await apple.siwa(
                "batch", command, "--input", apple.folder.path("tokens"), "--output",
                apple.folder.path(output), "--max-attempts", "1")
            let statuses = try results(apple.folder, output).values.compactMap {
                $0["status"]?.string
            }
            return (result.exitCode, statuses.sorted())
        }
        let refusal: JSON = [
            "endpoint": .string(endpoint), "status": 400, "error": "invalid_grant", "count": 1,
        ]
        // The others are answered: the outage does not concern the whole run.
        let overload: JSON = [
            "endpoint": .string(endpoint), "status": 503, "delay": "5s", "count": 1,
        ]
        try await apple.post("faults", overload)
        try await apple.post("faults", refusal)
        let both = try await run("both")
        #expect(both == (75, ["done", "done", "failed", "refused"]), "\(both)")
        try await apple.post("faults", refusal)
        let refused = try await run("refused")
        #expect(refused == (1, ["done", "done", "done", "refused"]), "\(refused)")
    }

    @Test func `a client_secret that is renewed while a batch runs is read again`() async throws {
        let (apple, lines) = try await seeded(4)
        let secret = apple.folder.path("secret")
        func mint(_ lifetime: String) async throws -> String {
            let minted = try await apple.siwa(
                "secret", "--lifetime", lifetime, "--out", secret, "--json", "-q")
            #expect(minted.exitCode == 0, "\(minted)")
            return SecretText(
                String(decoding: try apple.folder.contents("secret"), as: UTF8.self)
                    .split(separator: "\n").joined()
            ).fingerprint
        }
        // Longer than a busy machine takes for the first two.
        let first = try await mint("20s")
        let end = Date() + 20
        let pipe = try NamedPipe(apple.folder.path("pipe"))
        let batch = try apple.start([
            "batch", "refresh", "--input", pipe.path, "--client-secret", "@\(secret)",
        ])
        try pipe.write(lines[0] + lines[1])
        try await eventually("the first two are answered") {
            try batch.outputSoFar().split(separator: "\n").count == 2
        }
        let second = try await mint("1h")
        try await eventually("the first secret has expired") { Date() > end + 1 }
        try pipe.write(lines[2] + lines[3])
        try await eventually("the others are answered") {
            try batch.outputSoFar().split(separator: "\n").count == 4 || batch.hasEnded
        }
        try pipe.close()
        let result = try await batch.result()
        #expect(result.exitCode == 0, "\(result)")
        let used = try await apple.requests().compactMap {
            $0["fingerprints"]?["client_secret"]?.string
        }
        #expect(used == [first, first, second, second])
    }

    @Test func `a client_secret that expires while a batch runs ends the batch`() async throws {
        let (apple, lines) = try await seeded(2)
        let secret = apple.folder.path("secret")
        let minted = try await apple.siwa("secret", "--lifetime", "20s", "--out", secret)
        #expect(minted.exitCode == 0, "\(minted)")
        let end = Date() + 20
        let pipe = try NamedPipe(apple.folder.path("pipe"))
        let batch = try apple.start([
            "batch", "refresh", "--input", pipe.path, "--client-secret", "@\(secret)",
        ])
        try pipe.write(lines[0])
        try await eventually("the first one is answered") {
            try batch.outputSoFar().split(separator: "\n").count == 1
        }
        try await eventually("the secret has expired") { Date() > end + 1 }
        try pipe.write(lines[1])
        let result = try await batch.result()
        #expect(result.exitCode == 3, "\(result)")
        #expect(result.output.split(separator: "\n").count == 1, "\(result)")
        #expect(try await apple.requests().count == 1)
        try pipe.close()
    }
}
