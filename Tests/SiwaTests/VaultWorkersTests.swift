import SignInWithApple
import TestSupport
import Testing

/// Many processes on one vault: nobody is sent twice, and nobody is forgotten.
@Suite struct VaultWorkersTests {
    private static let workers = 8
    /// Of those, so many are killed on the way.
    private static let victims = 3

    @Test(.timeLimit(.minutes(30)), arguments: VaultBackend.available)
    func `eight workers revoke everybody once, also when three are killed`(
        _ backend: VaultBackend
    ) async throws {
        let people = Population(usual: wished("SIWA_VAULT_USERS", usual: 240), all: .migrates)
        let stage = try await VaultStage(backend, people)
        let tokens = try await stage.store(Array(1...people.count))
        #expect(tokens.count == people.count)

        let running = try (0..<Self.workers).map { try start($0, stage) }
        try await eventually("some are revoked") {
            try stage.vault().store.counts(of: nil)[.revoked, default: 0] > people.count / 20
        }
        for victim in running.prefix(Self.victims) { victim.signal(9) }
        for worker in running.dropFirst(Self.victims) {
            let result = try await worker.result()
            #expect(result.exitCode == 0, "\(result)")
        }
        for victim in running.prefix(Self.victims) { _ = try await victim.result() }

        // What the dead held comes back when their claims are over.
        var round = Self.workers
        try await eventually("what the dead workers held is revoked") {
            round += 1
            let last = try await start(round, stage).result()
            #expect(last.exitCode == 0, "\(last)")
            return try stage.vault().store.counts(of: nil) == [.revoked: people.count]
        }
        let sent = try await stage.apple.requests(to: "/auth/revoke").compactMap {
            $0["fingerprints"]?["token"]?.string
        }
        #expect(sent.count == people.count, "somebody was revoked twice, or not at all")
        #expect(Set(sent) == tokens)
    }

    private func start(_ number: Int, _ stage: VaultStage) throws -> RunningProgram {
        try stage.apple.start(
            [
                "batch", "revoke", "--vault", "--lease", stage.people.count > 1000 ? "15s" : "3s",
                "--output",
                stage.apple.folder.path("out-\(number)"),
            ], environment: stage.environment)
    }
}

extension VaultWorkersTests {
    private static let few = 60

    /// A slow run over a few users, some of whom are revoked already.
    private func onItsWay(
        _ backend: VaultBackend, _ pace: String...
    ) async throws -> (VaultStage, RunningProgram) {
        let stage = try await VaultStage(backend, Population(usual: Self.few, all: .migrates))
        _ = try await stage.store(Array(1...Self.few))
        let slow = try stage.apple.start(
            ["batch", "revoke", "--vault"] + pace, environment: stage.environment)
        try await eventually("it is on its way") {
            try stage.vault().store.counts(of: nil)[.revoked, default: 0] > 2
        }
        return (stage, slow)
    }

    /// Apple asks for a wait that is longer than a lease: without renewal the other run would claim
    /// what the first one is about to send again.
    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `two runs do not send the same token, however long Apple makes them wait`(
        _ backend: VaultBackend
    ) async throws {
        let stage = try await VaultStage(backend, Population(usual: Self.few, all: .migrates))
        let tokens = try await stage.store(Array(1...Self.few))
        let fault: JSON = [
            "endpoint": "/auth/revoke", "status": 429, "headers": ["Retry-After": "5"],
            "count": 12,
        ]
        try await stage.apple.post("faults", fault)
        let call = ["batch", "revoke", "--vault", "--lease", "2s", "--concurrency", "8"]
        let first = try stage.apple.start(call, environment: stage.environment)
        let second = try stage.apple.start(call, environment: stage.environment)
        var lines: [JSON] = []
        for run in [first, second] {
            let result = try await run.result()
            #expect(result.exitCode == 0, "\(result)")
            lines += try result.output.split(separator: "\n").map { try JSON(text: String($0)) }
        }
        #expect(try stage.vault().store.counts(of: nil) == [.revoked: Self.few])
        // Neither found a token that the other one had sent, and each has one result.
        #expect(lines.count == Self.few)
        #expect(lines.allSatisfy { $0["status"] == "done" && $0["http_status"] == 200 })
        #expect(Set(lines.compactMap { $0["token_fingerprint"]?.string }) == tokens)
        let answered = try await stage.apple.requests(to: "/auth/revoke")
            .filter { $0["fault"] == nil || $0["fault"] == .null }
            .compactMap { $0["fingerprints"]?["token"]?.string }
        #expect(answered.count == Self.few, "a token was sent twice")
        #expect(Set(answered) == tokens)
        let looked = try await stage.apple.requests(to: "/auth/token").count {
            $0["fingerprints"]?["refresh_token"] != nil
        }
        #expect(looked == 0, "a run claimed what the other one was sending")
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `the summary counts what a run that died still holds`(
        _ backend: VaultBackend
    ) async throws {
        let (stage, slow) = try await onItsWay(backend, "--rate", "5/s", "--lease", "1h")
        slow.signal(9)
        _ = try await slow.result()
        let next = try await stage.apple.siwa(
            "batch", "revoke", "--vault", "--json", environment: stage.environment)
        let last = try #require(next.errors.split(separator: "\n").first { $0.contains("summary") })
        let summary = try #require(try JSON(text: String(last))["summary"])
        let left = Self.few - (try stage.vault().store.counts(of: nil)[.revoked] ?? 0)
        #expect(left > 0 && summary["leased"]?.integer == left, "\(next)")
        #expect(summary["leased_until"]?.string?.hasSuffix("Z") == true, "\(next)")
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `one bad minute at Apple marks nothing dead`(_ backend: VaultBackend) async throws {
        let stage = try await VaultStage(backend, Population(usual: Self.few, all: .migrates))
        _ = try await stage.store(Array(1...Self.few))
        let fault: JSON = [
            "endpoint": "/auth/token", "status": 400, "error": "invalid_grant",
            "count": .integer(Self.few),
        ]
        try await stage.apple.post("faults", fault)
        let bad = try await stage.apple.siwa(
            "batch", "refresh", "--vault", environment: stage.environment)
        #expect(bad.exitCode == 9, "\(bad)")
        #expect(bad.output == "", "\(bad)")
        #expect(try stage.vault().store.counts(of: nil) == [.active: Self.few])
        let good = try await stage.apple.siwa(
            "batch", "refresh", "--vault", environment: stage.environment)
        #expect(good.exitCode == 0, "\(good)")
        #expect(good.output.split(separator: "\n").count == Self.few)
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `a run that is on its way opens what was given a new key`(
        _ backend: VaultBackend
    ) async throws {
        let (stage, slow) = try await onItsWay(backend, "--rate", "12/s")
        let rekey = try await stage.apple.siwa("vault", "rekey", environment: stage.environment)
        #expect(rekey.exitCode == 0, "\(rekey)")
        let result = try await slow.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try stage.vault().store.counts(of: nil) == [.revoked: Self.few])
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `what an interrupted run did not send the next one has at once`(
        _ backend: VaultBackend
    ) async throws {
        let (stage, slow) = try await onItsWay(backend, "--rate", "5/s", "--lease", "1h")
        slow.signal(15)
        let stopped = try await slow.result()
        #expect(stopped.exitCode == 143, "\(stopped)")
        let next = try await stage.apple.siwa(
            "batch", "revoke", "--vault", environment: stage.environment)
        #expect(next.exitCode == 0, "\(next)")
        #expect(try stage.vault().store.counts(of: nil) == [.revoked: Self.few])
    }
}
