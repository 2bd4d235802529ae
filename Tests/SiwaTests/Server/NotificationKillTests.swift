import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// No acknowledged notification is lost, or changes the vault twice.
@Suite(.blocking) struct NotificationKillTests {
    @Test(.timeLimit(.minutes(120)), arguments: VaultBackend.available)
    func `after a kill during reception, no acknowledged notification is lost`(
        _ backend: VaultBackend
    ) async throws {
        let run = try await ReceivingRun(
            backend, count: wished("SIWA_SERVER_NOTIFICATIONS", usual: 600), on: nil)
        let kills = wished("SIWA_SERVER_KILLS", usual: 5)
        async let sending: Void = run.send()
        let hits = try await run.disturb(kills) { try await run.killServer() }
        try await sending
        #expect(hits > kills / 2, "\(hits) of \(kills) kills hit a request")
        try await check(run, "\(backend.rawValue), \(kills) kills, \(hits) hit")
    }

    @Test(
        .enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"),
        .timeLimit(.minutes(120)))
    func `while the database stops and starts, acknowledged notifications are on disk`()
        async throws
    {
        let database = try await PostgresServer()
        let run = try await ReceivingRun(
            .postgres, count: wished("SIWA_SERVER_NOTIFICATIONS", usual: 600) / 2, on: database)
        let outages = max(wished("SIWA_SERVER_KILLS", usual: 4) / 2, 2)
        var random = SeededRandom.announced(for: "how long the database is down")
        async let sending: Void = run.send()
        let hits = try await run.disturb(outages) {
            if Bool.random(using: &random) {
                try await database.crash()
            } else {
                try await database.stop()
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...900, using: &random)))
            try await database.start()
        }
        try await sending
        #expect(hits > outages / 2, "\(hits) of \(outages) outages hit a request")
        try await check(run, "postgres, \(outages) outages, \(hits) hit")
    }

    /// Every event reached the application, but for one that it never accepts, and each moved the
    /// vault once.
    private func check(_ run: ReceivingRun, _ name: String) async throws {
        try await eventually("every event is delivered", limit: .seconds(3600)) {
            run.receiver.count >= run.count - 1
        }
        let poison = ReceivingRun.id(ReceivingRun.poisoned)
        let accepted = run.receiver.accepted
        let wanted = Set((1...run.count).map(ReceivingRun.id).filter { $0 != poison })
        let delivered = Set(accepted.keys)
        #expect(delivered == wanted)
        try await eventually("the refused event is sent again") { run.receiver.refusedCount > 1 }
        try await eventually(
            "every delivery is noted", limit: .seconds(600), pause: .milliseconds(300)
        ) {
            let states = try await run.fixture.inbox().map {
                ($0["jti"]?.string == poison, $0["state"]?.string)
            }
            return states.count == run.count
                && states.allSatisfy { $0.1 == ($0.0 ? "pending" : "done") }
        }
        let moves = try run.moves()
        #expect(moves.count == run.count && moves.values.allSatisfy { $0 == 1 })
        #expect(try await run.stop().ending == .exit(0))
        let now = run.now
        print(
            "notifications: \(name); \(now.acknowledged) acknowledged, \(now.unanswered) without "
                + "an answer, \(now.unavailable) refused; \(accepted.values.reduce(0, +)) deliveries"
        )
    }
}
