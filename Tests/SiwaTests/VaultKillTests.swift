import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

/// A process that is killed at any moment leaves a vault in which the same command ends right.
@Suite struct VaultKillTests {
    @Test(.timeLimit(.minutes(30)), arguments: VaultBackend.available)
    func `after a kill at any moment the same command ends right`(
        _ backend: VaultBackend
    ) async throws {
        let people = Population(usual: 8, all: .migrates)
        let stage = try await VaultStage(backend, people)
        _ = try await stage.store(Array(1...people.count))
        for round in 0..<wished("SIWA_VAULT_KILLS", usual: 16) {
            let work = try await Work(round, stage)
            let victim = try work.start(stage)
            try await Task.sleep(for: .microseconds(.random(in: 0..<120_000)))
            victim.signal(9)
            let printed = try await victim.result()
            try await work.checkAfterKill(printed, stage)
            let again = try await work.start(stage).result()
            try await work.checkAfterRepetition(again, stage)
            let faults = try stage.vault().store.faults()
            #expect(faults.isEmpty, "\(faults)")
        }
        #expect(try stage.opened().count == people.count)
    }
}

/// One command about one user, and what must hold of it.
private struct Work {
    let kind: Kind
    let number: Int
    /// What `exchange` spends.
    let code: String
    /// What `notification` is told.
    let body: String

    enum Kind: CaseIterable { case store, refresh, revoke, notification, rekey }

    init(_ round: Int, _ stage: VaultStage) async throws {
        kind = Kind.allCases[round % Kind.allCases.count]
        number = Int.random(in: 1...stage.people.count)
        let name = JSON.string(stage.people.name(number))
        code = kind == .store ? try await stage.apple.code([.init("user", name)]) : ""
        guard kind == .notification else {
            body = ""
            return
        }
        let posted = try await stage.apple.post(
            "notifications",
            ["user": name, "type": "consent-revoked", "client_id": "com.example.app"])
        body = try #require(posted["payload"]?.string)
    }

    func start(_ stage: VaultStage) throws -> RunningProgram {
        let user = stage.people.userID(number)
        let arguments =
            switch kind {
            case .store: ["exchange", "--code", code, "--store"]
            case .refresh: ["refresh", "--user", user]
            case .revoke: ["revoke", "--user", user]
            case .notification: ["notification", "-", "--apply"]
            case .rekey: ["vault", "rekey"]
            }
        return try stage.apple.start(arguments, input: body, environment: stage.environment)
    }

    /// Everything opens, and what was printed as stored is there.
    func checkAfterKill(_ printed: ProgramResult, _ stage: VaultStage) async throws {
        let records = try stage.opened()
        guard kind == .store, let answer = try? printed.json, answer["stored"] == true else {
            return
        }
        #expect(
            records[stage.user(number)]?.contains { $0.token == answer["refresh_token"]?.string }
                == true)
    }

    func checkAfterRepetition(_ result: ProgramResult, _ stage: VaultStage) async throws {
        let tokens = try #require(try stage.opened()[stage.user(number)])
        switch kind {
        case .store:
            // The first try may have spent the code: then it is Apple that says no.
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
                let proof = try await stage.apple.siwa(
                    "refresh", "--token", token.token, environment: stage.environment)
                #expect(proof.exitCode == 5, "revoked for good: \(proof)")
            }
        case .notification:
            #expect(result.exitCode == 0, "\(result)")
            // A token that was stored after the event remains active.
            #expect(tokens.contains { [.consentRevoked, .revoked, .revoking].contains($0.state) })
        case .rekey:
            #expect(result.exitCode == 0, "\(result)")
            let vault = try stage.vault()
            let left = try vault.store.records(
                VaultFilter(notSealedWith: vault.currentKey), after: nil, limit: 1)
            #expect(left.isEmpty)
        }
    }
}
