import Glibc
import SIWAJOSE
import SIWATestSupport
import Testing

/// Batches with the real executables over TLS, while the server and the network misbehave.
@Suite struct BatchFaultTests {
    /// Faults per 100 requests on a bad day.
    private static let badDay: [(percent: Int, fault: JSON)] = [
        (5, ["status": 503]), (2, ["status": 429]), (1, ["cut": "no_answer"]),
        (1, ["delay": "200ms"]),
    ]

    @Test(.timeLimit(.minutes(30)))
    func `each refresh succeeds despite faults, and is answered once`() async throws {
        let fixture = try await BatchFixture(items: wished("SIWA_REFRESH_ITEMS", usual: 1_000))
        let good = try await fixture.run("refresh", "good")
        #expect(good.count { $0.value == "done 0" } == fixture.living)
        #expect(good.count { $0.value == "refused 5" } == fixture.items - fixture.living)
        try await fixture.turnBad(Self.badDay, at: "/auth/token")
        let bad = try await fixture.run("refresh", "bad", checking: "refresh_token")
        #expect(bad == good)
    }

    @Test(.timeLimit(.minutes(30)))
    func `each revocation succeeds despite faults, and is answered once`() async throws {
        let fixture = try await BatchFixture(items: wished("SIWA_BATCH_ITEMS", usual: 1_000))
        try await fixture.turnBad(Self.badDay, at: "/auth/revoke")
        let bad = try await fixture.run("revoke", "bad", checking: "token")
        #expect(bad.allSatisfy { $0.value == "done 0" })
        #expect(try await fixture.run("refresh", "after").allSatisfy { $0.value == "refused 5" })
        try await fixture.apple.post("reset")
        #expect(try await fixture.run("revoke", "good") == bad)
    }

    @Test(.timeLimit(.minutes(30)))
    func `after kills at any moment, a resumed batch has one line for each item`() async throws {
        let fixture = try await BatchFixture(items: 2_000, living: 0)
        var random = SeededRandom.announced(for: "kills of batches")
        let kills = wished("SIWA_KILLS", usual: 3)
        var hits = 0
        for round in 1...kills {
            let output = "killed\(round)"
            let call = fixture.call("revoke", output) + ["--resume", "--rate", "2000"]
            let siwa = try fixture.apple.start(call)
            // Before the first result, or among the first half.
            let mark = Int.random(in: -fixture.items / 10...fixture.items / 2, using: &random)
            try await eventually("\(mark) lines") {
                mark <= 0 || ((try? fixture.lineCount(output)) ?? 0) >= mark
            }
            siwa.signal(SIGKILL)
            if try await siwa.result().ending == .signal(SIGKILL) { hits += 1 }
            let result = try await fixture.apple.siwa(call)
            #expect(result.exitCode == 0, "\(result)")
            let lines = try results(fixture.apple.folder, output)
            #expect(lines.keys.sorted() == Array(1...fixture.items))
            #expect(lines.allSatisfy { $1["id"]?.string == "user-\($0)" && $1["status"] == "done" })
        }
        print("kills of batches: \(hits) of \(kills) hit a batch at work")
        #expect(hits > 0)
    }
}

/// An Apple, and refresh tokens of which some are alive.
private struct BatchFixture {
    let apple: LocalApple
    let items: Int
    let living: Int
    private let input: String

    init(items: Int, living wished: Int? = nil) async throws {
        apple = try await LocalApple()
        self.items = items
        living = wished ?? min(items / 10, 1_000)
        var tokens = (0..<items).map { number in
            let digits = String(number, radix: 16)
            let zeros = String(repeating: "0", count: 32 - digits.count)
            return "r\(zeros)\(digits).0.nrzuu.AAAAAAAAAAAAAAAAAAAAAA"
        }
        if living > 0 {
            let rows = try await apple.post("seed", ["users": .integer(living)])["users"]?.elements
            for (number, row) in (rows ?? []).enumerated() {
                tokens[number * items / living] = try #require(row["refresh_token"]?.string)
            }
        }
        let lines = zip(1..., tokens).map { #"{"id":"user-\#($0)","token":"\#($1)"}"# + "\n" }
        input = try apple.folder.write("tokens", lines.joined())
    }

    func call(_ command: String, _ output: String) -> [String] {
        [
            "batch", command, "--input", input, "--output", apple.folder.path(output), "-q",
            "--concurrency", "64",
            // Most of these tokens are dead, which would trigger the brake.
            "--max-refused", "100",
        ]
    }

    func lineCount(_ output: String) throws -> Int {
        try apple.folder.contents(output).count { $0 == 0x0A }
    }

    func turnBad(_ faults: [(percent: Int, fault: JSON)], at endpoint: String) async throws {
        for (percent, fault) in faults {
            let more: [JSON.Member] = [
                .init("endpoint", .string(endpoint)), .init("percent", .integer(percent)),
                .init("count", 1_000_000),
            ]
            try await apple.post("faults", .object((fault.members ?? []) + more))
        }
    }

    /// How each item of a run ended, by its line.
    ///
    /// - Parameter secret: the parameter that no two whole answers may be about; nil for a run
    ///   without faults.
    func run(_ command: String, _ output: String, checking secret: String? = nil) async throws
        -> [Int: String]
    {
        var log = AnsweredOnce(secret: secret ?? "")
        if secret != nil { try await log.skip(on: apple) }
        let siwa = try apple.start(call(command, output), limit: .seconds(1500))
        if secret != nil {
            try await eventually("the end of \(output)", limit: .seconds(1500)) {
                // The log forgets what is older than 100,000 requests.
                try await log.read(from: apple) < AnsweredOnce.page && siwa.hasEnded
            }
        }
        let result = try await siwa.result()
        #expect([0, 1].contains(result.exitCode), "\(result)")
        #expect(log.answeredTwice.isEmpty)
        if secret != nil {
            while try await log.read(from: apple) > 0 {}
            #expect(log.answered.count == items)
            #expect(log.struck > items / 20)
        }
        let ended = try results(apple.folder, output)
        #expect(ended.keys.sorted() == Array(1...items))
        #expect(ended.allSatisfy { $1["id"]?.string == "user-\($0)" })
        return ended.mapValues {
            "\($0["status"]?.string ?? "none") \($0["exit_code"]?.integer ?? -1)"
        }
    }
}

/// Reads the emulator's log along with a run: whose answer went out whole, and whose twice.
private struct AnsweredOnce {
    static let page = 1000

    let secret: String
    private var last = 0
    private(set) var answered: Set<String> = []
    private(set) var answeredTwice: Set<String> = []
    private(set) var struck = 0

    init(secret: String) { self.secret = secret }

    /// Passes over what came before.
    mutating func skip(on apple: LocalApple) async throws {
        while try await read(from: apple) > 0 {}
        (answered, answeredTwice, struck) = ([], [], 0)
    }

    /// Reads on; answers how many requests there were.
    mutating func read(from apple: LocalApple) async throws -> Int {
        let requests = try await apple.requests(after: last, limit: Self.page)
        for request in requests {
            last = request["number"]?.integer ?? last
            let fault = request["fault"]?.string
            if fault != nil { struck += 1 }
            guard let token = request["fingerprints"]?[secret]?.string,
                fault?.hasPrefix("delayed") ?? true
            else { continue }
            if !answered.insert(token).inserted { answeredTwice.insert(token) }
        }
        return requests.count
    }
}
