import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

@Suite struct RefreshServiceTests {
    typealias Backend = ServiceFixture.Backend

    @Test(arguments: Backend.available)
    func `the newest token of a user is refreshed, and the answer is cached for a while`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        let body = try await replica.refreshed(userID)
        #expect(body["user_id"]?.string == userID.rawValue && body["access_token"] != nil)
        #expect(try fixture.records().map(\.checkedAt) == [fixture.now.value])
        fixture.now.value = fixture.now.value + .seconds(59)
        let cached = try await replica.refreshed(userID, maxAge: .seconds(60))
        #expect(
            cached == [
                "active": true, "checked_at": "2027-01-15T08:00:00Z", "cached": true,
            ])
        fixture.now.value = fixture.now.value + .seconds(1)
        #expect(try await replica.refreshed(userID, maxAge: .seconds(60))["cached"] == nil)
        #expect(try await fixture.requests("/auth/token", grant: "refresh_token") == 2)
    }

    @Test(arguments: Backend.available)
    func `concurrent requests share one request to Apple`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        try await fixture.fault(["endpoint": "/auth/token", "delay": "500ms"])
        let bodies = try await withThrowingTaskGroup(of: JSON.self) { group in
            for _ in 0..<5 { group.addTask { try await replica.refreshed(userID) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(bodies.map { $0["access_token"] }).count == 1)
        #expect(try await fixture.requests("/auth/token", grant: "refresh_token") == 1)
    }

    @Test(arguments: Backend.available)
    func `the client must be given if several clients hold tokens`(_ backend: Backend) async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        _ = try await fixture.signedIn(replica, of: ServiceFixture.web)
        let error = try await Diagnosis.thrown { try await replica.refreshed(userID) }
        #expect(error.code == "invalid_request" && error.exitCode == .usage)
        let body = try await replica.refreshed(userID, of: ServiceFixture.web)
        #expect(body["other_clients"] == ["com.example.app"])
        let missing = try await Diagnosis.thrown {
            try await replica.refreshed(UserID(unchecked: "nobody"))
        }
        #expect(missing.code == "not_found")
    }

    @Test(arguments: Backend.available)
    func `a refused token is dead, unless most tokens are refused`(_ backend: Backend) async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        try await fixture.fault(["endpoint": "/auth/token", "error": "invalid_grant"])
        let error = try await Diagnosis.thrown { try await replica.refreshed(userID) }
        #expect(error.code == "invalid_grant")
        #expect(try fixture.records().map(\.state) == [.dead])
        _ = try await replica.refreshed(userID)
        #expect(try fixture.records().map(\.state) == [.active])
        // 19 of 21 answers are refusals.
        let client = try #require(replica.clients[ServiceFixture.app])
        for number in 0..<18 {
            let token = RefreshToken(SecretText("r\(number)"))
            _ = try? await replica.refresh.refresh(RefreshInput(.token(token, client)))
        }
        try await fixture.fault(["endpoint": "/auth/token", "error": "invalid_grant"])
        _ = try? await replica.refreshed(userID)
        #expect(try fixture.records().map(\.state) == [.active])
        #expect(fixture.log.names.contains("refusal_not_noted"))
    }

    @Test
    func `a token that is not in the vault is cached as well`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let replica = try fixture.replica()
        let body = try await replica.exchanged(try await fixture.code(), isStoring: false)
            .body(isRevealing: true)
        let token = RefreshToken(SecretText(try #require(body["refresh_token"]?.string)))
        let client = try #require(replica.clients[ServiceFixture.app])
        let input = RefreshInput(.token(token, client), maxAge: .seconds(60))
        #expect(try await replica.refresh.refresh(input).json["access_token"] != nil)
        #expect(try await replica.refresh.refresh(input).json["cached"] == true)
        #expect(try await fixture.requests("/auth/token", grant: "refresh_token") == 1)
    }
}

extension Replica {
    fileprivate func refreshed(
        _ userID: UserID, of clientID: ClientID? = nil, maxAge: Duration? = nil
    ) async throws -> JSON {
        try await refresh.refresh(RefreshInput(.user(userID, clientID), maxAge: maxAge)).json
    }
}

extension ServiceFixture {
    /// Signs a user in; the vault has the token then.
    func signedIn(
        _ replica: Replica, of client: ClientID = app, user: String = "alice"
    ) async throws -> UserID {
        let code = try await code(of: client, user: user)
        let body = try await replica.exchanged(code, of: client).body(isRevealing: false)
        return UserID(unchecked: try #require(body["user_id"]?.string))
    }
}
