import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// `siwa-emulator conform` against the sample backend of Tests/Clients/conform, which needs PyJWT.
@Suite(.blocking) struct ConformTests {
    /// Tests/Clients/conform.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Clients/conform").standardized.path
    private static let check = folder + "/check.py"

    /// An interpreter that has PyJWT with its RSA.
    static func python() async throws -> Executable? {
        guard let python = Executable.installed("python3") else { return nil }
        let found = try await python.run(Executable.Call(["-c", "import jwt, cryptography"]))
        return found.exitCode == 0 ? python : nil
    }

    /// All of its bugs take a quarter of an hour: `make test-clients CLIENTS=conform`.
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

    /// A check whose bug every Python program has: the sound backend is advised of it.
    private static let foundInSound: Set<String> = ["T61", "T66"]

    @Test func `every check fails for a bug of the sample backend, and every bug fails a check`()
        async throws
    {
        let table = URL(filePath: Self.check).deletingLastPathComponent()
            .appending(path: "bugs.json")
        let channels = try #require(JSON(Array(Data(contentsOf: table))).members)
        #expect(channels.map(\.name).sorted() == ["exchange", "request"])
        let failed = channels.flatMap { $0.value.members ?? [] }
            .map { ($0.value.elements ?? []).compactMap(\.string) }
        #expect(failed.allSatisfy { !$0.isEmpty }, "a bug that no check finds")
        let found = Set(failed.joined().map { String($0.prefix { $0 != "/" }) })
        let list = try await Executable.product("siwa-emulator").run(
            Executable.Call(["conform", "--list"]))
        let rows = list.output.split(separator: "\n")
            .map { $0.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true) }
        #expect(rows.count > 80 && rows.allSatisfy { $0.count == 4 }, "\(list.output)")
        let severities: Set<Substring> = ["critical", "high", "medium", "advice"]
        #expect(rows.allSatisfy { severities.contains($0[2]) })
        let ids = Set(rows.map { String($0[0]) })
        #expect(ids.subtracting(found) == Self.foundInSound)
        #expect(found.subtracting(ids) == [])
    }
}

/// `siwa-emulator conform` with each of its ways to be called, against the sample backend.
@Suite(
    .blocking,
    .enabled("PyJWT with cryptography is not installed") {
        try await ConformTests.python() != nil
    })
struct ConformCallTests {
    @Test func `a separate emulator is used by its URL, for a sound backend and one with a bug`()
        async throws
    {
        let apple = try await EmulatorProcess(usesTLS: false) { folder in
            try SampleBackend.allowRedirect(in: folder)
        }
        let folder = try TemporaryFolder()
        let sound = try await SampleBackend(apple.folder.path("apple"), apple.url)
        let file = try sound.describe(in: folder)
        let call = ["conform", file, "--emulator", apple.url, "--json", "--skip", "T71=slow"]
        let good = try await emulator(call)
        #expect(good.exitCode == 0, "\(good)")
        let report = try JSON(text: good.output)
        #expect(try failures(good) == [])
        #expect(report["summary"]?["inconclusive"] == 0)
        #expect((report["summary"]?["held"]?.integer ?? 0) > 100)
        #expect((report["users"]?.elements ?? []).count > 100)

        let bad = try await SampleBackend(
            apple.folder.path("apple"), apple.url, bugs: ["alg_none", "no_aud"])
        let other = try bad.describe(in: folder)
        let found = try await emulator(
            ["conform", other, "--emulator", apple.url, "--json", "--only", "T01,T02,T20,R02"])
        #expect(found.exitCode == 1, "\(found)")
        #expect(try failures(found) == ["T01/native", "T01/web", "T20/native", "T20/web"])
    }

    @Test func `the log of an emulator that has run for long is read in pages`() async throws {
        let apple = try await EmulatorProcess(usesTLS: false) { folder in
            try SampleBackend.allowRedirect(in: folder)
        }
        let curl = try #require(Executable.installed("curl"))
        let asked = try await curl.run(
            "--silent", "--user-agent", String(repeating: "a", count: 200), "--output", "/dev/null",
            "\(apple.url)/auth/keys?[1-2000]")
        try #require(asked.exitCode == 0, "\(asked)")
        let folder = try TemporaryFolder()
        let backend = try await SampleBackend(apple.folder.path("apple"), apple.url)
        let file = try backend.describe(in: folder)
        let found = try await emulator(
            ["conform", file, "--emulator", apple.url, "--json", "--only", "T01"])
        #expect(found.exitCode == 0, "\(found)")
    }

    @Test func `another user's id is also sent where the file writes the user's own`() async throws
    {
        let apple = try await EmulatorProcess(usesTLS: false) { folder in
            try SampleBackend.allowRedirect(in: folder)
        }
        let folder = try TemporaryFolder()
        let backend = try await SampleBackend(
            apple.folder.path("apple"), apple.url, bugs: ["user_id_from_body"])
        let file = try backend.describe(in: folder)
        let text = String(
            decoding: try folder.contents((file as NSString).lastPathComponent), as: UTF8.self)
        let own = try folder.write(
            "own.json",
            text.replacingOccurrences(
                of: #""code": "{{code}}", "nonce""#,
                with: #""account": "{{sub}}", "code": "{{code}}", "nonce""#))
        let call = ["conform", own, "--emulator", apple.url, "--json", "--only", "R02"]
        let found = try await emulator(call)
        #expect(try failures(found) == ["R02/native"], "\(found)")
        let results = try #require(try JSON(text: found.output)["results"]?.elements)
        let variants = results.first { $0["id"] == "R02" }?["variants"]?.elements ?? []
        func outcome(_ comment: String) throws -> JSON {
            let variant = variants.first { $0["comment"] == .string(comment) }
            return try #require(variant?["outcome"], "\(variants)")
        }
        let filled = try outcome("{{sub}} of another user")
        #expect(filled == (try outcome("'user_id' of another user in the body")))
        #expect(
            try outcome("'sub' of another user in the body")
                == "signed in as the token's own account")
    }

    @Test func `what was found out is said: clients, tokens, and why it is only advice`()
        async throws
    {
        let run = try await ownRun(
            ["--only", "T01,T55,D02,R03"], bugs: ["posted_unverified", "revoke_latest"])
        #expect(run.result.exitCode == 0, "\(run.result)")
        let said = run.result.output
        #expect(said.contains("'com.example.app' is in 'audiences'"), "\(said)")
        #expect(said.contains("1 of 2 tokens is revoked"), "\(said)")
        #expect(said.contains("✓ R03"))
        #expect(said.contains("-1@conform.example to conform-"), "\(said)")
        let advice = said.components(separatedBy: "advice: T01").dropFirst().first ?? ""
        #expect(advice.contains("The token of the exchange still says who signs in"), "\(said)")
        #expect(!said.contains("Anybody can sign in as any user"), "\(said)")
        let address = try await ownRun(["--only", "R03"], bugs: ["posted_address"])
        #expect(address.result.exitCode == 1, "\(address.result)")
        #expect(address.result.output.contains("a forged token in the request"))
    }

    @Test func `a notification without an effect leaves a forged one to its status`() async throws {
        let run = try await ownRun(["--json", "--only", "N"], bugs: ["notification_ignored"])
        #expect(run.result.exitCode == 0, "\(run.result)")
        let results = try JSON(text: run.result.output)["results"]?.elements ?? []
        let found = results.filter { ($0["id"]?.string ?? "").hasPrefix("N") }
            .map { "\($0["id"]?.string ?? "") \($0["result"]?.string ?? "")" }
        #expect(
            found == [
                "N01 held", "N02 advice", "N03 advice", "N04 advice", "N05 advice", "N06 skipped",
                "N07 held", "N08 held", "N09 advice",
            ])
    }

    @Test func `checks without a verdict are no run`() async throws {
        let apple = try await EmulatorProcess(usesTLS: false) { folder in
            try SampleBackend.allowRedirect(in: folder)
        }
        let folder = try TemporaryFolder()
        let backend = try await SampleBackend(apple.folder.path("apple"), apple.url)
        let file = (try backend.describe(in: folder) as NSString).lastPathComponent
        let text = String(decoding: try folder.contents(file), as: UTF8.self)
        let unset = try folder.write(
            "unset.json",
            text.replacingOccurrences(
                of: #""revokes_within": "2s","#, with: #""revokes_within": "2s""#
            ).replacingOccurrences(of: #""retries_within": "5s""#, with: ""))
        let nothing = try await emulator(
            ["conform", unset, "--emulator", apple.url, "--only", "D03"])
        #expect(nothing.exitCode == 3 && nothing.errors.contains("no check was run"), "\(nothing)")
    }

    @Test
    func `a running emulator that lacks the client of the file is named, before anything is sent`()
        async throws
    {
        let apple = try await EmulatorProcess(usesTLS: false)
        let folder = try TemporaryFolder()
        let backend = try await SampleBackend(apple.folder.path("apple"), apple.url)
        let text = try String(contentsOfFile: backend.describe(in: folder), encoding: .utf8)
        try folder.write(
            "other.json", text.replacingOccurrences(of: "com.example.app", with: "com.example.else")
        )
        let result = try await emulator(
            ["conform", folder.path("other.json"), "--emulator", apple.url])
        #expect(result.exitCode == 3 && result.errors.contains("com.example.else"), "\(result)")
        #expect(!result.output.contains("T01"))
    }

    @Test func `the report is valid by JUnit's schema, and counts what it has`() async throws {
        let run = try await ownRun(
            ["--junit", "report.xml", "--only", "T01,T20,W,D01"], bugs: ["alg_none", "no_aud"])
        #expect(run.result.exitCode == 1, "\(run.result)")
        let python = try #require(try await ConformTests.python())
        let scripts = ConformTests.folder
        let checked = try await python.run(
            Executable.Call([
                "\(scripts)/junit.py", "\(scripts)/junit-10.xsd", run.folder.path("report.xml"),
            ]))
        #expect(checked.exitCode == 0 && checked.output == "valid\n", "\(checked)")
        let report = String(decoding: try run.folder.contents("report.xml"), as: UTF8.self)
        func count(_ text: String) -> Int { report.components(separatedBy: text).count - 1 }
        #expect(report.contains("failures=\"\(count("<failure "))\""))
        #expect(report.contains("tests=\"\(count("<testcase "))\""))
        #expect(report.contains("skipped=\"\(count("<skipped "))\""))
        #expect(count("<failure ") == 4)
        #expect(report.contains(#"classname="native" name="T01 alg-none""#))
        let damaged = report.replacingOccurrences(of: "<failure ", with: "<fault ")
            .replacingOccurrences(of: "</failure>", with: "</fault>")
        try run.folder.write("damaged.xml", damaged)
        let refused = try await python.run(
            Executable.Call([
                "\(scripts)/junit.py", "\(scripts)/junit-10.xsd", run.folder.path("damaged.xml"),
            ]))
        #expect(refused.exitCode == 1 && refused.output.contains("fault"), "\(refused)")
    }

    /// The sample backend compares both tokens, so that each variant is sent in the request alone, too.
    @Test func `--exhaustive sends every variant, and the run without it one for each mechanism`()
        async throws
    {
        let few = try await ownRun(["--json", "--only", "T02"])
        let all = try await ownRun(["--json", "--only", "T02", "--exhaustive"])
        #expect(few.result.exitCode == 0 && all.result.exitCode == 0, "\(few), \(all)")
        #expect(try variants(few.result, "T02") == 6)
        #expect(try variants(all.result, "T02") == 28)
    }

    @Test func `--only takes ids, groups and slugs, and --require says what must have been run`()
        async throws
    {
        let run = try await ownRun(["--json", "--only", "alg-none,W"])
        #expect(run.result.exitCode == 0, "\(run.result)")
        let results = try #require(JSON(text: run.result.output)["results"]?.elements)
        let ran = Set(results.filter { $0["result"] != "skipped" }.compactMap { $0["id"]?.string })
        #expect(ran == ["T01", "W01", "W02", "W03", "W04", "W05", "W06", "W07", "W08"])
        let required = try await ownRun(["--only", "T01", "--require", "R"])
        #expect(required.result.exitCode == 3, "\(required.result)")
        #expect(required.result.errors.contains("R01, which --require names, was skipped"))
        #expect(required.result.errors.contains("name it in --only"))
        // The token of an exchange came for its code: that is no gap of the file.
        let pointless = try await ownRun(
            ["--only", "T01,T50", "--require", "c_hash-wrong"], channel: "exchange")
        #expect(pointless.result.exitCode == 0, "\(pointless.result)")
        #expect(pointless.result.output.contains("- T50"))
        let skipped = try await ownRun(["--only", "T01", "--skip", "T=not today"])
        #expect(skipped.result.exitCode == 3)
        #expect(skipped.result.errors.contains("no check was run"), "\(skipped.result)")
    }

    @Test(arguments: [
        (["--only", "T99"], 2, "'T99' is not a check"),
        (["--skip", "T01"], 2, "has no reason"),
        (["--emulator", "http://127.0.0.1:1"], 75, "no emulator answers"),
        (["--emulator", "https://example.com"], 2, "not the URL of a loopback address"),
        (["--emulator", "http://127.0.0.1:1", "--port", "9"], 2, "excludes --dir"),
        (["--fail-on", "advice"], 2, "fail-on"),
    ])
    func `a mistake in a call has its exit code`(
        _ arguments: [String], _ code: Int32, _ text: String
    ) async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "backend.json",
            """
            {"app": "http://127.0.0.1:9", "sign_in": {"client_id": "com.example.app", "steps": \
            [{"post": "/", "json": {"t": "{{id_token}}"}}], "signed_in": {"status": [200]}}}
            """)
        let result = try await emulator(["conform", folder.path("backend.json")] + arguments)
        #expect(result.exitCode == code && result.errors.contains(text), "\(result)")
    }

    @Test func `a part that the file leaves out is skipped, and missed by --require`() async throws
    {
        let run = try await ownRun(["--only", "T01,W", "--require", "W"]) { file in
            guard case .object(let members) = file else { return file }
            return .object(members.filter { $0.name != "web" })
        }
        #expect(run.result.exitCode == 3, "\(run.result)")
        #expect(run.result.output.contains("- W03"))
        #expect(run.result.errors.contains("was skipped: the file has no 'web'"))
    }

    @Test func `whoami must name nobody without a session, and another account for another user`()
        async throws
    {
        let run = try await ownRun(["--only", "T01"]) { file in
            let whoami: JSON = ["get": "/home", "account": ""]
            return JSON.object(
                (file.members ?? []).map {
                    $0.name == "whoami" ? JSON.Member("whoami", whoami) : $0
                })
        }
        #expect(run.result.exitCode == 3, "\(run.result)")
        #expect(run.result.errors.contains("with and without a sign-in"), "\(run.result)")
    }

    @Test func `a door that refuses good tokens makes the checks of tokens inconclusive`()
        async throws
    {
        let run = try await ownRun(
            ["--json", "--only", "T01,T20,R02"], channel: "exchange", others: ["--no-made-tokens"])
        #expect(run.result.exitCode == 0, "\(run.result)")
        let results = try #require(JSON(text: run.result.output)["results"]?.elements)
        let open = results.filter { $0["result"] == "inconclusive" }
        #expect(open.map { $0["id"] } == ["T01", "T20", "T01", "T20"])
        #expect(
            open.allSatisfy {
                $0["detail"]?.string?.contains("delivered in the same way is not accepted") == true
            })
    }

    @Test func `a notification that takes effect later is judged later`() async throws {
        let late = ["--late", "0.7"]
        let sound = try await ownRun(["--json", "--only", "N"], others: late)
        #expect(sound.result.exitCode == 0, "\(sound.result)")
        #expect(try JSON(text: sound.result.output)["summary"]?["advice"] == 0)
        let bug = try await ownRun(
            ["--json", "--only", "N"], bugs: ["notification_unverified"], others: late)
        #expect(try failures(bug.result) == ["N02/-", "N04/-"], "\(bug.result)")
    }

    // Helpers.

    private func emulator(_ arguments: [String]) async throws -> ProgramResult {
        try await Executable.product("siwa-emulator").run(
            Executable.Call(arguments, limit: .seconds(300)))
    }

    /// A run with an emulator of its own; `report.xml` is in the folder.
    private func ownRun(
        _ arguments: [String], bugs: [String] = [], channel: String = "request",
        others: [String] = [], _ change: (JSON) -> JSON = { $0 }
    ) async throws -> (result: ProgramResult, folder: TemporaryFolder) {
        let folder = try TemporaryFolder()
        let made = try await emulator(["init", folder.path("apple")])
        try #require(made.exitCode == 0, "\(made)")
        let port = try ReservedPort().port
        let backend = try await SampleBackend(
            folder.path("apple"), "http://127.0.0.1:\(port)", bugs: bugs, channel: channel,
            others: others)
        let file = try backend.describe(in: folder)
        let described = try JSON(Array(Data(contentsOf: URL(filePath: file))))
        try change(described).text.write(toFile: file, atomically: true, encoding: .utf8)
        let paths = arguments.map { $0 == "report.xml" ? folder.path($0) : $0 }
        let result = try await emulator(
            ["conform", file, "--dir", folder.path("apple"), "--port", "\(port)"] + paths)
        return (result, folder)
    }

    private func failures(_ result: ProgramResult) throws -> [String] {
        (try JSON(text: result.output)["results"]?.elements ?? [])
            .filter { $0["result"] == "failed" }
            .map { "\($0["id"]?.string ?? "")/\($0["flow"]?.string ?? "-")" }.sorted()
    }

    /// How many variants of a check were sent in the app's flow.
    private func variants(_ result: ProgramResult, _ id: String) throws -> Int? {
        try JSON(text: result.output)["results"]?.elements?
            .first { $0["id"] == .string(id) && $0["flow"] == "native" }?["variants"]?.elements?
            .count
    }
}

/// Tests/Clients/conform/backend.py, running.
private final class SampleBackend: Sendable {
    private let url: String
    private let program: RunningProgram

    /// - Parameter folder: what `siwa-emulator init` made.
    init(
        _ folder: String, _ apple: String, bugs: [String] = [], channel: String = "request",
        others: [String] = []
    ) async throws {
        let python = try #require(try await ConformTests.python())
        let text = try Data(contentsOf: URL(filePath: folder + "/config.json"))
        let profile = try #require(JSON(Array(text))["profiles"]?["app"])
        func setting(_ name: String) throws -> String { try #require(profile[name]?.string) }
        let program = try python.start(
            Executable.Call(
                [
                    "\(ConformTests.folder)/backend.py", "--apple", apple, "--port", "0", "--key",
                    "\(folder)/\(try setting("private_key"))", "--key-id", try setting("key_id"),
                    "--team-id", try setting("team_id"), "--channel", channel,
                ] + bugs.flatMap { ["--bug", $0] } + others,
                environment: ["PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"],
                limit: .seconds(600)))
        self.program = program
        try await eventually("the sample backend listens") {
            (try? program.outputSoFar().contains("\n")) ?? false
        }
        url =
            try program.outputSoFar().components(separatedBy: "listening on ").last?
            .split(separator: "\n").first.map(String.init) ?? ""
    }

    deinit { program.end() }

    /// Writes the description of this backend.
    func describe(in folder: TemporaryFolder) throws -> String {
        let file = URL(filePath: "\(ConformTests.folder)/backend.json")
        let text = try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: "http://127.0.0.1:PORT", with: url)
        return try folder.write("backend-\(url.split(separator: ":").last ?? "").json", text)
    }

    /// Registers the callback of the sample backend.
    static func allowRedirect(in folder: TemporaryFolder) throws {
        let text = String(decoding: try folder.contents("apple/emulator.json"), as: UTF8.self)
        try folder.write(
            "apple/emulator.json",
            text.replacingOccurrences(
                of: "https://example.com/callback", with: "https://example.com/cb"))
    }
}
