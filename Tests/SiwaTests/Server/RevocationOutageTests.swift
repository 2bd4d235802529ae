import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// A revocation is never lost: neither by an outage at Apple nor by a crash of the server.
@Suite(.blocking) struct RevocationOutageTests {
    @Test(.timeLimit(.minutes(60)), arguments: VaultBackend.available)
    func `every revocation during an outage ends with proof`(_ backend: VaultBackend) async throws {
        let count = wished("SIWA_SERVER_REVOCATIONS", usual: 12)
        let outage = wished("SIWA_SERVER_OUTAGE", usual: 2)
        let fixture = try await ServerFixture(backend, users: count)
        _ = try await fixture.vault.store(Array(1...count))
        // SQLite serves one process.
        let width = backend == .sqlite ? 1 : 2
        let replicas = try await Replicas(fixture, count: width)
        try await fixture.apple.post("faults", ["status": 503, "count": 1_000_000])
        let ids = try await Self.order(count, fixture, replicas, width)
        for number in 0..<width { try await replicas.restart(number) }
        // For a while, all requests fail.
        try await Task.sleep(for: .seconds(outage))
        for id in ids.prefix(20) {
            let status = try await Self.status(id, replicas, width)
            #expect(status["state"] == "pending")
        }
        try await fixture.apple.post("faults/clear")
        let refused = try await fixture.apple.requests().count { $0["status"] == 503 }
        #expect(refused > 0)
        for id in ids {
            try await eventually("\(id) is revoked", limit: .seconds(3600)) {
                try await Self.status(id, replicas, width)["state"] == "revoked"
            }
            let ended = try await Self.status(id, replicas, width)
            #expect(ended["revoked"] == true && ended["confirmed"] == true)
            #expect(
                ended["tokens"]?.elements?.map { $0["evidence"] }
                    == ["refresh_accepted_then_rejected"], "\(ended)")
        }
        let states = try fixture.vault.opened().values.flatMap { $0.map(\.state) }
        #expect(states.count == count && states.allSatisfy { $0 == .revoked })
        let listed = try await fixture.apple.siwa(
            "revocations", "list", "--state", "revoked", "--limit", "100000", "--json",
            environment: fixture.vault.environment)
        #expect(try listed.json["revocations"]?.elements?.count == count)
        print(
            "revocations: \(backend.rawValue), \(count) ordered, \(refused) requests met the outage, "
                + "\(await replicas.kills) kills")
    }

    private static func order(
        _ count: Int, _ fixture: ServerFixture, _ replicas: Replicas, _ width: Int
    ) async throws -> [String] {
        var ids: [String] = []
        for number in 1...count {
            let user = fixture.vault.people.userID(number)
            let answer = try await replicas.settled(
                "POST", "/v1/revoke", ["user_id": .string(user), "wait": 0], first: number,
                of: width)
            #expect(answer.status == 202, "\(answer)")
            let id = try #require(try answer.json["revocation_id"]?.string)
            #expect(answer["Location"] == "/v1/revocations/\(id)")
            ids.append(id)
        }
        return ids
    }

    private static func status(
        _ id: String, _ replicas: Replicas, _ width: Int
    ) async throws -> JSON {
        try await replicas.settled("GET", "/v1/revocations/\(id)", first: 0, of: width).json
    }
}
