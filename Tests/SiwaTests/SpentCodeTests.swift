import Glibc
import SignInWithApple
import TestSupport
import Testing

/// A code works once: whatever ends siwa or its database, the tokens of a spent code are printed or
/// stored.
@Suite(.timeLimit(.minutes(60))) struct SpentCodeTests {
    @Test(arguments: VaultBackend.available)
    func `a signal at any moment loses no tokens of a spent code`(
        _ backend: VaultBackend
    ) async throws {
        let count = wished("SIWA_CODE_SIGNALS", usual: 16)
        var random = SeededRandom.announced(for: "signals, \(backend)")
        let stage = try await VaultStage(backend, Population(usual: count + 3, all: .migrates))
        let longest = try await Self.duration(stage, users: count + 1...count + 3)
        var codes = SpentCodes()
        for number in 1...count {
            let code = try await stage.apple.code(ofUser: number, stage)
            // Makes the time longer in which the code is spent and its tokens are nowhere.
            if Bool.random(using: &random) {
                for path in ["/auth/token", "/auth/revoke"] {
                    try await stage.apple.post(
                        "faults", ["endpoint": .string(path), "delay": "30ms"])
                }
            }
            let command =
                number.isMultiple(of: 2)
                ? ["revoke", "--code", "-", "--print", "revoked"]
                : ["exchange", "--code", "-", "--store", "--print", "user_id"]
            let program = try stage.apple.start(
                command, input: code, environment: stage.environment)
            try await Task.sleep(for: longest * Double.random(in: 0..<1.2, using: &random))
            program.signal(SIGTERM)
            codes.append(.init(number: number, code: code, result: try await program.result()))
        }
        let spent = try await codes.spent(stage)
        let hits = spent.filter { $0.run.result.exitCode == 143 }
        print(
            "signals, \(backend): \(count) sent, \(hits.count) between a code and the end;",
            spent.summary)
        for lost in spent where lost.isLost { Issue.record("\(lost.run.result)") }
        if count >= 500 { #expect(hits.count >= 100) }
        for run in codes.runs {
            // A signal that came before siwa handled any.
            let isEarly = run.result.ending == .signal(SIGTERM) && run.result.outputBytes.isEmpty
            #expect([0, 143].contains(run.result.exitCode) || isEarly, "\(run.result)")
        }
    }

    /// How long an exchange takes that nothing disturbs: the longest of a few.
    private static func duration(
        _ stage: VaultStage, users: ClosedRange<Int>
    ) async throws -> Duration {
        let clock = ContinuousClock()
        var longest = Duration.zero
        for user in users {
            let code = try await stage.apple.code(ofUser: user, stage)
            let start = clock.now
            let result = try await stage.apple.siwa(
                "exchange", "--code", "-", "--store", input: code, environment: stage.environment)
            #expect(result.exitCode == 0, "\(result)")
            longest = max(longest, clock.now - start)
        }
        return longest
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `an outage of the database at any moment loses no tokens of a spent code`() async throws {
        let count = wished("SIWA_OUTAGES", usual: 6)
        var random = SeededRandom.announced(for: "outages")
        let server = try await PostgresServer()
        let stage = try await VaultStage(
            .postgres, Population(usual: count + 3, all: .migrates), on: server)
        let longest = try await Self.duration(stage, users: count + 1...count + 3)
        var codes = SpentCodes()
        var disturbed: [String: Int] = [:]
        for number in 1...count {
            let outage = Outage.allCases[number % Outage.allCases.count]
            let code = try await stage.apple.code(ofUser: number, stage)
            let program = try stage.apple.start(
                ["exchange", "--code", "-", "--store", "--timeout", "3s"], input: code,
                environment: stage.environment, limit: .seconds(60))
            try await Task.sleep(for: longest * Double.random(in: 0..<1, using: &random))
            try await outage.begin(server)
            let result = try await program.result()
            try await outage.end(server)
            if result.exitCode != 0 { disturbed[outage.rawValue, default: 0] += 1 }
            codes.append(.init(number: number, code: code, result: result))
        }
        let spent = try await codes.spent(stage)
        print("outages: \(count), of which \(disturbed) disturbed a run;", spent.summary)
        for lost in spent where lost.isLost { Issue.record("\(lost.run.result)") }
        // 1: tokens that could not be stored were printed; 75: the vault was away before the code
        // was sent.
        for run in codes.runs {
            #expect([0, 1, 75].contains(run.result.exitCode), "\(run.result)")
        }
        if count >= 200 {
            for outage in Outage.allCases { #expect(disturbed[outage.rawValue] ?? 0 > 0) }
        }
        #expect(try stage.vault().store.faults() == [])
    }
}

/// What happens to a database's server while siwa uses it.
private enum Outage: String, CaseIterable {
    /// It stops answering, and goes on when siwa has ended.
    case hangs
    /// It ends, and is started when siwa has ended.
    case stops
    /// It crashes and is started at once.
    case restarts

    func begin(_ server: PostgresServer) async throws {
        switch self {
        case .hangs: try await server.signal(SIGSTOP)
        case .stops: try await server.stop()
        case .restarts:
            try await server.crash()
            try await server.start()
        }
    }

    func end(_ server: PostgresServer) async throws {
        switch self {
        case .hangs: try await server.signal(SIGCONT)
        case .stops: try await server.start()
        case .restarts: break
        }
    }
}

extension LocalApple {
    /// Signs a user of a stage in, and answers the code.
    fileprivate func code(ofUser number: Int, _ stage: VaultStage) async throws -> String {
        try await code(for: "com.example.app", [.init("user", .string(stage.people.name(number)))])
    }
}
