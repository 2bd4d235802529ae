import Glibc
import SIWAJOSE
import SIWATestSupport
import Testing

/// An app transfer with the real executables over TLS: every user is exported and imported.
@Suite(.blocking) struct MigrationTests {
    /// A day, so that the clock that makes a bearer token expire leaves the client_secret alone.
    private static let environment = ["SIWA_SECRET_LIFETIME": "1d"]
    private static let migration = "/auth/usermigrationinfo"

    @Test(.timeLimit(.minutes(10)))
    func `every user is mapped or listed, even if the bearer token expires three times`()
        async throws
    {
        let people = Population(usual: 600)
        let apple = try await LocalApple(users: people.members)
        let team = try await recipient(of: apple)
        try await leave(people.numbers(.leavesBefore), people, apple)

        let users = (1...people.count).map { people.userID($0) }
        let tokens = try await run(["export", "--to-team", team], users, "export", apple)
        #expect(tokens == 4)
        let exported = try results(apple.folder, "export")
        #expect(exported.count == people.count)
        for (number, result) in exported {
            let goes = [.migrates, .leavesAfter].contains(people.fate(number))
            #expect(result["status"]?.string == (goes ? "done" : "refused"))
            #expect(result["user_id"]?.string == people.userID(number))
        }

        try await apple.post("transfer")
        try await leave(people.numbers(.leavesAfter), people, apple)
        let lines = String(decoding: try apple.folder.contents("export"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        #expect(try await run(["import", "--profile", "recipient"], lines, "import", apple) == 4)
        try await check(people, lines, try results(apple.folder, "import"), apple)
    }

    /// Every result against what Apple says of the same user elsewhere: in a token after the
    /// transfer.
    private func check(
        _ people: Population, _ lines: [String], _ imported: [Int: JSON], _ apple: LocalApple
    ) async throws {
        #expect(imported.count == people.count)
        for (index, line) in lines.enumerated() {
            let export = try JSON(text: line)
            let number = try #require(export["line"]?.integer)
            let result = try #require(imported[index + 1])
            #expect(result["old_user_id"]?.string == people.userID(number))
            #expect(result["transfer_id"] == export["transfer_id"])
            switch people.fate(number) {
            case .leavesBefore, .isUnknown: #expect(result["status"] == "invalid")
            case .leavesAfter: #expect(result["status"] == "refused")
            case .migrates:
                #expect(result["status"] == "done")
                #expect(
                    result["email"]?.string
                        == (people.hasRelay(number) ? people.relay(number) : nil))
                let claims = try await claims(people.name(number), apple)
                #expect(result["user_id"] == claims["sub"], "user \(number)")
                #expect(result["transfer_id"] == claims["transfer_sub"], "user \(number)")
            }
        }
    }

    private func claims(_ user: String, _ apple: LocalApple) async throws -> JSON {
        let signIn = try await apple.post(
            "codes", ["client_id": "com.example.app", "user": .string(user)])
        return try CompactJWS(try #require(signIn["id_token"]?.string)).payload
    }

    /// Feeds a half in quarters, and lets the bearer token expire between them.
    ///
    /// - Returns: how many bearer tokens it took.
    private func run(
        _ arguments: [String], _ lines: [String], _ output: String, _ apple: LocalApple
    ) async throws -> Int {
        let before = try await apple.requests().count
        let pipe = try NamedPipe(apple.folder.path(output + ".in"))
        let siwa = try apple.start(
            ["migrate"] + arguments + [
                "--input", pipe.path, "--output", apple.folder.path(output),
            ],
            environment: Self.environment)
        for quarter in 1...4 {
            let range = lines.count * (quarter - 1) / 4..<lines.count * quarter / 4
            try pipe.write(lines[range].map { $0 + "\n" }.joined())
            guard quarter < 4 else { break }
            let folder = apple.folder
            try await eventually("quarter \(quarter) of \(output)") {
                (try? folder.contents(output).count { $0 == 0x0A }) == range.upperBound
            }
            // Each hour ends on top of those before, for this half and the one before it.
            let hours = (arguments[0] == "export" ? 0 : 3) + quarter
            try await apple.post("clock", ["offset": .string("\(hours * 61)m")])
        }
        try pipe.close()
        let result = try await siwa.result()
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.errors.contains(" done, "), "\(result)")
        return try await apple.requests().count - before
    }

    @Test func `after kills at any moment, a resumed migration has one line for each user`()
        async throws
    {
        let people = Population(usual: 400)
        let apple = try await LocalApple(users: people.members)
        let team = try await recipient(of: apple)
        let input = try apple.folder.write(
            "users", (1...people.count).map { people.userID($0) + "\n" }.joined())
        let call = [
            "migrate", "export", "--to-team", team, "--input", input, "--output",
            apple.folder.path("export"), "--rate", "1000/s", "-q",
        ]
        var random = SeededRandom.announced(for: "kills of a migration")
        var kills = 0
        for number in 1...5 {
            let siwa = try apple.start(call + (number > 1 ? ["--resume"] : []))
            let folder = apple.folder
            let mark = people.count * number / 6 + Int.random(in: -30...30, using: &random)
            try await eventually("\(mark) lines") {
                (try? folder.contents("export").count { $0 == 0x0A } >= mark) == true
            }
            siwa.signal(SIGKILL)
            if case .signal = try await siwa.result().ending { kills += 1 }
        }
        print("kills of a migration: \(kills) of 5 hit it at work")
        #expect(kills > 2)
        #expect(try await apple.siwa(call + ["--resume"]).exitCode == 1)
        let exported = try results(apple.folder, "export")
        #expect(exported.keys.sorted() == Array(1...people.count))
        for (number, result) in exported {
            #expect((result["status"] == "done") == (people.fate(number) != .isUnknown))
        }
    }

    @Test func `identifiers that Apple does not know stop the import, and nothing is recorded`()
        async throws
    {
        let people = Population(usual: 300)
        let apple = try await LocalApple(users: people.members)
        try await apple.post("transfer")
        let input = try apple.folder.write(
            "ids", people.numbers(.migrates).map { people.userID($0) + "\n" }.joined())
        let call = [
            "migrate", "import", "--profile", "recipient", "--input", input, "--output",
            apple.folder.path("import"),
        ]
        for extra in [[], ["--resume"]] {
            let result = try await apple.siwa(call + extra)
            #expect(result.exitCode == 6, "\(result)")
            #expect(
                result.hints.first?.hasPrefix("Apple refused all of the first 100 users") == true)
            #expect(try apple.folder.contents("import").isEmpty)
        }
        // Requests in flight when the hundredth was refused are wasted.
        #expect(try await apple.requests(to: Self.migration).count <= 2 * 116)
    }

    private func recipient(of apple: LocalApple) async throws -> String {
        let file = try JSON(try apple.folder.contents("apple/emulator.json"))
        return try #require(file["recipient"]?["team_id"]?.string)
    }

    private func leave(_ numbers: [Int], _ people: Population, _ apple: LocalApple) async throws {
        for number in numbers {
            try await apple.post(
                "notifications",
                ["type": "consent-revoked", "user": .string(people.name(number))])
        }
    }
}
