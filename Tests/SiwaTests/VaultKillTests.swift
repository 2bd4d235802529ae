import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// After a process is killed at any moment, the same command completes correctly.
@Suite(.blocking) struct VaultKillTests {
    @Test(.timeLimit(.minutes(30)), arguments: VaultBackend.available)
    func `after a kill at any moment, the same command completes the work`(
        _ backend: VaultBackend
    ) async throws {
        let people = Population(usual: 8, all: .migrates)
        let fixture = try await VaultFixture(backend, people)
        _ = try await fixture.store(Array(1...people.count))
        var random = SeededRandom.announced(for: "kills, \(backend)")
        var durations: [Work.Kind: Duration] = [:]
        let rounds = wished("SIWA_VAULT_KILLS", usual: 16)
        var hits = 0
        for round in 0..<rounds {
            let work = try await Work(round, fixture, &random)
            let longest = durations[work.kind] ?? .milliseconds(60)
            let victim = try work.start(fixture)
            try await Task.sleep(for: longest * Double.random(in: 0..<1, using: &random))
            victim.signal(9)
            let printed = try await victim.result()
            if printed.ending == .signal(9) { hits += 1 }
            try await work.checkAfterKill(printed, fixture)
            let clock = ContinuousClock()
            let start = clock.now
            let again = try await work.start(fixture).result()
            // Half the time after a command that was quicker than its kill.
            durations[work.kind] = min(
                clock.now - start, printed.ending == .signal(9) ? longest * 2 : longest / 2)
            try await work.checkAfterRepetition(again, fixture)
            let faults = try fixture.vault().store.faults()
            #expect(faults.isEmpty, "\(faults)")
        }
        print("kills, \(backend): \(hits) of \(rounds) hit a command at work")
        #expect(hits > 0)
        #expect(try fixture.opened().count == people.count)
    }
}

/// One command about one user, and what must hold of it.
private struct Work {
    let kind: Kind
    let number: Int
    /// What `exchange` spends.
    let code: String
    /// The input of `notification`.
    let body: String

    enum Kind: CaseIterable { case store, refresh, revoke, notification, rekey }

    init(_ round: Int, _ fixture: VaultFixture, _ random: inout SeededRandom) async throws {
        kind = Kind.allCases[round % Kind.allCases.count]
        number = Int.random(in: 1...fixture.people.count, using: &random)
        let name = JSON.string(fixture.people.name(number))
        code = kind == .store ? try await fixture.apple.code([.init("user", name)]) : ""
        guard kind == .notification else {
            body = ""
            return
        }
        let posted = try await fixture.apple.post(
            "notifications",
            ["user": name, "type": "consent-revoked", "client_id": "com.example.app"])
        body = try #require(posted["payload"]?.string)
    }

    func start(_ fixture: VaultFixture) throws -> RunningProgram {
        let user = fixture.people.userID(number)
        let arguments =
            switch kind {
            case .store: ["exchange", "--code", code, "--store"]
            case .refresh: ["refresh", "--user", user]
            case .revoke: ["revoke", "--user", user]
            case .notification: ["notification", "-", "--apply"]
            case .rekey: ["vault", "rekey"]
            }
        return try fixture.apple.start(arguments, input: body, environment: fixture.environment)
    }

    /// Everything opens, and what was printed as stored is there.
    func checkAfterKill(_ printed: ProgramResult, _ fixture: VaultFixture) async throws {
        let records = try fixture.opened()
        guard kind == .store, let answer = try? printed.json, answer["stored"] == true else {
            return
        }
        #expect(
            records[fixture.user(number)]?.contains { $0.token == answer["refresh_token"]?.string }
                == true)
    }

    func checkAfterRepetition(_ result: ProgramResult, _ fixture: VaultFixture) async throws {
        let tokens = try #require(try fixture.opened()[fixture.user(number)])
        switch kind {
        case .store:
            // The first try may have spent the code: then Apple refuses it.
            #expect([0, 5].contains(result.exitCode), "\(result)")
            if result.exitCode == 0 {
                let printed = try result.json["refresh_token"]?.string
                #expect(tokens.contains { $0.token == printed && $0.state == .active })
            }
        case .refresh: #expect([0, 5].contains(result.exitCode), "\(result)")
        case .revoke:
            #expect(result.exitCode == 0, "\(result)")
            let revoked = tokens.filter { $0.state == .revoked }
            #expect(!revoked.isEmpty)
            for token in revoked {
                let proof = try await fixture.apple.siwa(
                    "refresh", "--token", token.token, environment: fixture.environment)
                #expect(proof.exitCode == 5, "revoked for good: \(proof)")
            }
        case .notification:
            #expect(result.exitCode == 0, "\(result)")
            // A token that was stored after the event remains active.
            #expect(tokens.contains { [.consentRevoked, .revoked, .revoking].contains($0.state) })
        case .rekey:
            #expect(result.exitCode == 0, "\(result)")
            let vault = try fixture.vault()
            let left = try vault.store.records(
                VaultFilter(notSealedWith: vault.currentKey), after: nil, limit: 1)
            #expect(left.isEmpty)
        }
    }
}
