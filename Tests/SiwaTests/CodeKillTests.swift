import Glibc
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

/// No signal, at whatever moment, loses the tokens of a spent code.
@Suite(.timeLimit(.minutes(60))) struct CodeKillTests {
    @Test(arguments: VaultBackend.available)
    func `every code that Apple saw spent has its tokens printed or stored`(
        _ backend: VaultBackend
    ) async throws {
        let rounds = wished("SIWA_CODE_SIGNALS", usual: 24)
        let seed = wished("SIWA_CODE_SEED", usual: Int.random(in: 1...Int(Int32.max)))
        print("signals to \(backend): SIWA_CODE_SEED=\(seed)")
        var tally = CodeTally()
        let stage = try await VaultStage(backend, Population(usual: 8, all: .migrates))
        let usual = try await usualDuration(stage)
        var moments = Moments(seed: UInt64(seed), within: usual * 1.2)
        for round in 0..<rounds {
            let work = CodeWork.allCases[round % CodeWork.allCases.count]
            let number = 1 + round % stage.people.count
            try await stage.apple.post("reset")
            let code = try await stage.apple.code(
                [.init("user", .string(stage.people.name(number)))])
            try await delay(stage)
            let stored = try stage.tokenCount()
            let running = try stage.apple.start(
                work.arguments(code), environment: stage.environment)
            try await Task.sleep(for: moments.next())
            running.signal(SIGTERM)
            let result = try await running.result()
            let isSpent = try await stage.apple.requests().contains {
                $0["grant_type"] == "authorization_code" && $0["status"]?.integer == 200
            }
            let isStored = try stage.tokenCount() > stored
            tally.add(isSpent: isSpent, isStored: isStored, result)
            if isSpent { expectKept(result, work, isStored: isStored) }
        }
        print("signals to \(backend): \(tally)")
        #expect(tally.spent > 0 && tally.interruptedAfterSending > 0, "no signal hit its aim")
        if rounds >= 500 {
            #expect(tally.interruptedAfterSending >= 100, "too few signals hit their aim: \(tally)")
        }
    }

    /// Makes Apple slow enough to be hit, and fast enough for hundreds of rounds.
    private func delay(_ stage: VaultStage) async throws {
        for path in ["/auth/token", "/auth/revoke"] {
            try await stage.apple.post("faults", ["endpoint": .string(path), "delay": "30ms"])
        }
    }

    /// How long a command takes that no signal meets.
    private func usualDuration(_ stage: VaultStage) async throws -> Duration {
        let clock = ContinuousClock()
        var longest = Duration.zero
        for work in CodeWork.allCases + CodeWork.allCases {
            let code = try await stage.apple.code([.init("user", .string(stage.people.name(1)))])
            try await delay(stage)
            let start = clock.now
            _ = try await stage.apple.siwa(work.arguments(code), environment: stage.environment)
            longest = max(longest, clock.now - start)
        }
        return longest
    }

    /// That the token is in the vault or was printed, or that it was revoked.
    private func expectKept(_ result: ProgramResult, _ work: CodeWork, isStored: Bool) {
        #expect([0, 143].contains(result.exitCode), "\(result)")
        let printed = try? result.json
        let isPrinted = printed?["refresh_token"]?.string?.hasPrefix("r") ?? false
        let isRevoked = printed?["revoked"] == true || work == .revoke && result.output == "true\n"
        #expect(isPrinted || isStored || isRevoked, "lost: \(result)")
        if let said = printed?["stored"] { #expect(said == .boolean(isStored), "\(result)") }
    }
}

extension VaultStage {
    /// How many tokens the vault has.
    fileprivate func tokenCount() throws -> Int { try opened().values.map(\.count).reduce(0, +) }
}

/// A command that spends a code.
private enum CodeWork: CaseIterable {
    case store
    case revoke

    func arguments(_ code: String) -> [String] {
        switch self {
        case .store: ["exchange", "--code", code, "--store", "--print", "user_id"]
        case .revoke: ["revoke", "--code", code, "--print", "revoked"]
        }
    }
}

/// When signals are sent: anywhere from the start of the process to a while after its usual end.
private struct Moments {
    private var state: UInt64
    private let range: Duration

    init(seed: UInt64, within range: Duration) { (state, self.range) = (seed, range) }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    mutating func next() -> Duration {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return range * (Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53))
    }
}

/// How many signals hit what.
private struct CodeTally: CustomStringConvertible {
    var rounds = 0
    var spent = 0
    var stored = 0
    /// Signals that came after the code had left and before the command had ended.
    var interruptedAfterSending = 0

    mutating func add(isSpent: Bool, isStored: Bool, _ result: ProgramResult) {
        rounds += 1
        if isSpent { spent += 1 }
        if isStored { stored += 1 }
        if isSpent, result.exitCode == 143 { interruptedAfterSending += 1 }
    }

    var description: String {
        """
        \(rounds) rounds, \(spent) codes spent, \(stored) tokens stored, \
        \(interruptedAfterSending) signals between the code and the command's end
        """
    }
}
