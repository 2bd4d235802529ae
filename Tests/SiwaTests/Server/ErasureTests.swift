import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// The end of an account, as an application sees it over HTTP.
@Suite(.blocking) struct ErasureTests {
    @Test(arguments: VaultBackend.available)
    func `a user is erased after the revocation`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        let code = try await fixture.code(of: 1)
        let user = try await server.api("POST", "/v1/exchange", ["code": .string(code)])
        let id = try #require(try user.json["user_id"]?.string)
        func erase(_ query: String = "") async throws -> HTTPAnswer {
            try await server.api("DELETE", "/v1/users/\(id)\(query)")
        }
        let live = try await erase()
        #expect(live.status == 409, "\(live)")
        #expect(try live.json["code"] == "token_may_work" && live.json["retryable"] == false)
        #expect(try live.json["exit_code"] == 1)
        #expect(try live.json["hints"]?.elements?.isEmpty == false)
        try await fixture.apple.post("faults", ["endpoint": "/auth/revoke", "status": 503])
        let revoked = try await server.api(
            "POST", "/v1/revoke", ["user_id": .string(id), "wait": 0])
        #expect(revoked.status == 202, "\(revoked)")
        #expect(try revoked.json["revoked"] == false)
        let pending = try await erase("?even_if_live=true")
        #expect(try pending.status == 409 && pending.json["code"] == "revocation_pending")
        #expect(pending["Retry-After"] != nil)
        try await eventually("it is revoked") {
            let page = try await server.api("GET", "/v1/revocations?user_id=\(id)").json
            #expect(page["cursor"] == .null)
            return page["revocations"]?.elements?.map { $0["state"] } == ["revoked"]
        }
        #expect(try await server.api("GET", "/v1/revocations?state=dead").json["revocations"] == [])
        let erased = try await erase()
        #expect(erased.status == 204 && erased.body.isEmpty, "\(erased)")
        #expect(try await server.api("GET", "/v1/users/\(id)").status == 404)
        let left = try await server.api("GET", "/v1/revocations")
        #expect(!left.body.contains(id), "\(left)")
        // The answer that was kept for repetitions is erased as well.
        let again = try await server.api("POST", "/v1/exchange", ["code": .string(code)])
        #expect(try again.status == 409 && again.json["code"] == "code_already_sent")
        #expect(try await erase().status == 204)
        for query in ["?even_if_live=1", "?even_if_live=", "?odd=true"] {
            #expect(try await erase(query).status == 400, "\(query)")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `tokens of a client without a profile are shown, revoked and erased`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        _ = try await fixture.vault.store([1])
        try fixture.vault.run("UPDATE vault_token SET client_id = 'com.example.old'")
        let id = fixture.vault.people.userID(1)
        let shown = try await server.api("GET", "/v1/users/\(id)").json
        #expect(shown["tokens"]?.elements?.map { $0["client_id"] } == ["com.example.old"])
        let revoked = try await server.api("POST", "/v1/revoke", ["user_id": .string(id)])
        // Its client id is a part of its encryption.
        #expect(revoked.status == 500, "\(revoked)")
        let live = try await server.api("DELETE", "/v1/users/\(id)")
        #expect(try live.json["code"] == "token_may_work")
        let erased = try await server.api("DELETE", "/v1/users/\(id)?even_if_live=true")
        #expect(erased.status == 204)
        #expect(try await server.api("GET", "/v1/users/\(id)").status == 404)
    }

    @Test func `the erasure needs its own scope`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure([.init("api", ["listen": "127.0.0.1:0"])])
        let server = try await fixture.serve()
        for (scope, status) in [("erase", 204), ("read", 403), ("revoke", 403)] {
            // A new token works at once, although the list was read a moment ago.
            let added = try await fixture.run(["token", "add", scope, "--scope", scope])
            let token = added.output.filter { $0 != "\n" }
            let answer = try await server.api(
                "DELETE", "/v1/users/nobody", nil, ["Authorization: Bearer \(token)"])
            #expect(answer.status == status, "\(scope): \(answer)")
        }
        let other = try await server.api("DELETE", "/v1/revoke")
        #expect(other.status == 405 && other["Allow"] == "POST", "\(other)")
        let users = try await server.api("POST", "/v1/users/x", [:])
        #expect(users.status == 405 && users["Allow"] == "GET, HEAD, DELETE", "\(users)")
    }

    @Test(arguments: VaultBackend.available)
    func `the end of a revocation that was answered with 202 is delivered`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        let bodies = Mutex<[String: String]>([:])
        let application = try EventReceiver { id, body in
            bodies.withLock { $0[id] = body }
            return 204
        }
        try fixture.apple.folder.write(
            "apple/webhook.secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        let server = try await fixture.serve(
            fixture.listeners + [
                .init(
                    "deliver",
                    [
                        "url": .string(application.url), "secret_file": "webhook.secret",
                        "revocations": true,
                    ])
            ])
        _ = try await fixture.vault.store([1, 2])
        let (first, second) = (fixture.vault.people.userID(1), fixture.vault.people.userID(2))
        // Its caller knows the result.
        let known = try await server.api("POST", "/v1/revoke", ["user_id": .string(first)])
        #expect(known.status == 200)
        try await fixture.apple.post("faults", ["endpoint": "/auth/revoke", "status": 503])
        let promised = try await server.api(
            "POST", "/v1/revoke", ["user_id": .string(second), "wait": 0])
        let id = try #require(try promised.json["revocation_id"]?.string)
        let jti = "siwa-revocation-\(id)"
        try await eventually("it is delivered") { application.accepted[jti] == 1 }
        #expect(application.count == 1)
        let event = try JSON(text: try #require(bodies.withLock { $0[jti] }))
        #expect(event["type"] == "revocation.ended" && event["state"] == "revoked")
        #expect(event["revocation_id"]?.string == id && event["user_id"]?.string == second)
        #expect(event["event_time"] == nil && event["ended_at"] != nil)
        // Callers that do not request it get only Apple's events.
        #expect(try await server.api("GET", "/v1/events").json["events"] == [])
    }
}
