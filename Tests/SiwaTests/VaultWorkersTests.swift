import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// Many processes on one vault: every token is sent exactly once.
@Suite(.blocking) struct VaultWorkersTests {
    private static let workers = 8
    /// The number of them that are killed.
    private static let victims = 3

    @Test(.timeLimit(.minutes(30)), arguments: VaultBackend.available)
    func `eight workers revoke every token once, even if three are killed`(
        _ backend: VaultBackend
    ) async throws {
        let people = Population(usual: wished("SIWA_VAULT_USERS", usual: 96), all: .migrates)
        let fixture = try await VaultFixture(backend, people)
        let tokens = try await fixture.store(Array(1...people.count))
        #expect(tokens.count == people.count)
        // Slow enough that a worker which is killed is still at work.
        let slow: JSON = [
            "endpoint": "/auth/revoke", "delay": "50ms", "count": .integer(tokens.count),
        ]
        try await fixture.apple.post("faults", slow)

        var random = SeededRandom.announced(for: "kills of workers, \(backend)")
        let mark = Int.random(in: 1...people.count / 10, using: &random)
        let running = try (0..<Self.workers).map { try start($0, fixture) }
        let store = try fixture.vault().store
        try await eventually("\(mark) are revoked") {
            try store.counts(of: nil)[.revoked, default: 0] >= mark
        }
        for victim in running.prefix(Self.victims) { victim.signal(9) }
        for worker in running.dropFirst(Self.victims) {
            let result = try await worker.result()
            // The others may hold everything that is left: that is no success.
            let isIdle = result.errors.contains("siwa: items_held: ")
            #expect(result.exitCode == (isIdle ? 75 : 0), "\(result)")
        }
        var hits = 0
        for victim in running.prefix(Self.victims) {
            if try await victim.result().ending == .signal(9) { hits += 1 }
        }
        print("kills of workers, \(backend): \(hits) of \(Self.victims) hit a worker at work")
        #expect(hits > 0)

        // Records of killed processes are free after their leases have expired.
        try await eventually("the leases of the dead workers end", pause: .milliseconds(200)) {
            try store.leasedByOthers(than: "", VaultFilter()).count == 0
        }
        let last = try await start(Self.workers, fixture).result()
        #expect(last.exitCode == 0, "\(last)")
        #expect(try store.counts(of: nil) == [.revoked: people.count])
        let sent = try await fixture.apple.requests(to: "/auth/revoke").compactMap {
            $0["fingerprints"]?["token"]?.string
        }
        #expect(sent.count == people.count, "a token was revoked twice, or not at all")
        #expect(Set(sent) == tokens)
    }

    private func start(_ number: Int, _ fixture: VaultFixture) throws -> RunningProgram {
        let isLong = fixture.people.count > 1000
        return try fixture.apple.start(
            [
                "batch", "revoke", "--vault", "--lease", isLong ? "15s" : "10s",
                // So that each of a few records is renewed more than once.
                "--concurrency", isLong ? "16" : "2",
                // Eight processes and a slow machine: a statement may wait.
                "--timeout", "2m", "--output", fixture.apple.folder.path("out-\(number)"),
            ], environment: fixture.environment)
    }
}

extension VaultWorkersTests {
    private static let few = 24

    /// A slow run over a few users, some of whom are revoked already.
    private func onItsWay(
        _ backend: VaultBackend, _ pace: String...
    ) async throws -> (VaultFixture, RunningProgram) {
        let fixture = try await VaultFixture(backend, Population(usual: Self.few, all: .migrates))
        _ = try await fixture.store(Array(1...Self.few))
        let slow = try fixture.apple.start(
            ["batch", "revoke", "--vault"] + pace, environment: fixture.environment)
        let store = try fixture.vault().store
        try await eventually("it is on its way") {
            try store.counts(of: nil)[.revoked, default: 0] > 2
        }
        return (fixture, slow)
    }

    /// Apple asks for a wait that is longer than a lease: without renewal the other run would claim
    /// what the first one is about to send again.
    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `two runs never send the same token, however long Apple makes them wait`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: Self.few, all: .migrates))
        let tokens = try await fixture.store(Array(1...Self.few))
        let fault: JSON = [
            "endpoint": "/auth/revoke", "status": 429, "headers": ["Retry-After": "15"],
            "count": 12,
        ]
        try await fixture.apple.post("faults", fault)
        // A busy machine renews a lease of 6 s in time.
        let call = ["batch", "revoke", "--vault", "--lease", "6s", "--concurrency", "8"]
        let first = try fixture.apple.start(call, environment: fixture.environment)
        let second = try fixture.apple.start(call, environment: fixture.environment)
        var lines: [JSON] = []
        for run in [first, second] {
            let result = try await run.result()
            // The other run may hold everything: that is no success.
            #expect(result.exitCode == (result.output.isEmpty ? 75 : 0), "\(result)")
            lines += try result.output.split(separator: "\n").map { try JSON(text: String($0)) }
        }
        #expect(try fixture.vault().store.counts(of: nil) == [.revoked: Self.few])
        // Neither found a token that the other one had sent, and each has one result.
        #expect(lines.count == Self.few)
        #expect(lines.allSatisfy { $0["status"] == "done" && $0["http_status"] == 200 })
        #expect(Set(lines.compactMap { $0["token_fingerprint"]?.string }) == tokens)
        let answered = try await fixture.apple.requests(to: "/auth/revoke")
            .filter { $0["fault"] == nil || $0["fault"] == .null }
            .compactMap { $0["fingerprints"]?["token"]?.string }
        #expect(answered.count == Self.few, "a token was sent twice")
        #expect(Set(answered) == tokens)
        let looked = try await fixture.apple.requests(to: "/auth/token").count {
            $0["fingerprints"]?["refresh_token"] != nil
        }
        #expect(looked == 0, "a run claimed what the other one was sending")
    }

    /// A run that is suspended cannot renew its leases: only the deadline keeps it from sending.
    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `a run that was suspended for longer than its lease sends nothing`(
        _ backend: VaultBackend
    ) async throws {
        let count = 4
        let fixture = try await VaultFixture(backend, Population(usual: count, all: .migrates))
        let tokens = try await fixture.store(Array(1...count))
        let fault: JSON = [
            "endpoint": "/auth/revoke", "status": 429, "headers": ["Retry-After": "20"],
            "count": .integer(count),
        ]
        try await fixture.apple.post("faults", fault)
        let call = ["batch", "revoke", "--vault", "--lease", "5s", "--concurrency", "4"]
        let suspended = try fixture.apple.start(call, environment: fixture.environment)
        try await eventually("all are to be sent again") {
            try await fixture.apple.requests(to: "/auth/revoke").count == count
        }
        suspended.signal(19)
        try await eventually("another run has revoked them") {
            _ = try await fixture.apple.siwa(call, environment: fixture.environment)
            return try fixture.vault().store.counts(of: nil) == [.revoked: count]
        }
        suspended.signal(18)
        let result = try await suspended.result()
        #expect(result.exitCode == 75, "\(result)")
        let lines = try result.output.split(separator: "\n").map { try JSON(text: String($0)) }
        #expect(
            lines.count == count && lines.allSatisfy { $0["error"]?["code"] == "too_late" },
            "\(result)")
        let answered = try await fixture.apple.requests(to: "/auth/revoke")
            .filter { $0["status"] == 200 }.compactMap { $0["fingerprints"]?["token"]?.string }
        #expect(answered.count == count && Set(answered) == tokens, "a token was sent twice")
    }

    /// The clock of the database is set past the leases of a run that waits, and back again. The wait
    /// ends before the run would notice by a renewal.
    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `a run sends no record that another run has claimed, whatever its clock shows`(
        _ backend: VaultBackend
    ) async throws {
        let count = 4
        let fixture = try await VaultFixture(backend, Population(usual: count, all: .migrates))
        let tokens = try await fixture.store(Array(1...count))
        let fault: JSON = [
            "endpoint": "/auth/revoke", "status": 429, "headers": ["Retry-After": "8"],
            "count": .integer(count),
        ]
        try await fixture.apple.post("faults", fault)
        let call = ["batch", "revoke", "--vault", "--concurrency", "4"]
        let first = try fixture.apple.start(call, environment: fixture.environment)
        try await eventually("all are to be sent again") {
            try await fixture.apple.requests(to: "/auth/revoke").count == count
        }
        // To the other run, the leases have ended: a clock that is past their end shows the same.
        try fixture.run("UPDATE vault_token SET lease_until = 1")
        let second = try await fixture.apple.siwa(call, environment: fixture.environment)
        #expect(second.exitCode == 0, "\(second)")
        let result = try await first.result()
        #expect(result.exitCode == 75, "\(result)")
        let lines = try result.output.split(separator: "\n").map { try JSON(text: String($0)) }
        #expect(lines.count == count && lines.allSatisfy { $0["error"]?["code"] == "too_late" })
        let answered = try await fixture.apple.requests(to: "/auth/revoke")
            .filter { $0["status"] == 200 }.compactMap { $0["fingerprints"]?["token"]?.string }
        #expect(answered.count == count && Set(answered) == tokens, "a token was sent twice")
        #expect(try fixture.vault().store.counts(of: nil) == [.revoked: count])
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `the summary counts the records that a killed run still holds`(
        _ backend: VaultBackend
    ) async throws {
        let (fixture, slow) = try await onItsWay(backend, "--rate", "5/s", "--lease", "1h")
        slow.signal(9)
        _ = try await slow.result()
        let next = try await fixture.apple.siwa(
            "batch", "revoke", "--vault", "--json", environment: fixture.environment)
        let last = try #require(next.errors.split(separator: "\n").first { $0.contains("summary") })
        let summary = try #require(try JSON(text: String(last))["summary"])
        let left = Self.few - (try fixture.vault().store.counts(of: nil)[.revoked] ?? 0)
        #expect(left > 0 && summary["leased"]?.integer == left, "\(next)")
        #expect(summary["leased_until"]?.string?.hasSuffix("Z") == true, "\(next)")
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `an outage at Apple marks no token as dead`(_ backend: VaultBackend) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: Self.few, all: .migrates))
        _ = try await fixture.store(Array(1...Self.few))
        let fault: JSON = [
            "endpoint": "/auth/token", "status": 400, "error": "invalid_grant",
            "count": .integer(Self.few),
        ]
        try await fixture.apple.post("faults", fault)
        let bad = try await fixture.apple.siwa(
            "batch", "refresh", "--vault", environment: fixture.environment)
        #expect(bad.exitCode == 9, "\(bad)")
        #expect(bad.output == "", "\(bad)")
        #expect(try fixture.vault().store.counts(of: nil) == [.active: Self.few])
        let good = try await fixture.apple.siwa(
            "batch", "refresh", "--vault", environment: fixture.environment)
        #expect(good.exitCode == 0, "\(good)")
        #expect(good.output.split(separator: "\n").count == Self.few)
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `a running batch decrypts records that were encrypted with a new key`(
        _ backend: VaultBackend
    ) async throws {
        let (fixture, slow) = try await onItsWay(backend, "--rate", "5/s")
        let rekey = try await fixture.apple.siwa("vault", "rekey", environment: fixture.environment)
        #expect(rekey.exitCode == 0, "\(rekey)")
        let result = try await slow.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try fixture.vault().store.counts(of: nil) == [.revoked: Self.few])
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `the next run gets the unsent records of an interrupted run immediately`(
        _ backend: VaultBackend
    ) async throws {
        let (fixture, slow) = try await onItsWay(backend, "--rate", "5/s", "--lease", "1h")
        slow.signal(15)
        let stopped = try await slow.result()
        #expect(stopped.exitCode == 143, "\(stopped)")
        let next = try await fixture.apple.siwa(
            "batch", "revoke", "--vault", environment: fixture.environment)
        #expect(next.exitCode == 0, "\(next)")
        #expect(try fixture.vault().store.counts(of: nil) == [.revoked: Self.few])
    }
}
