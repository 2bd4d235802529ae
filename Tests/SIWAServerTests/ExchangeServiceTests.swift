import SIWADatabases
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

@Suite struct ExchangeServiceTests {
    typealias Backend = ServiceFixture.Backend

    @Test(arguments: Backend.available)
    func `a code becomes a stored token, and a repeat gets the same answer`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let (one, two) = (try fixture.replica("one"), try fixture.replica("two"))
        let code = try await fixture.code(nonce: "n")
        let first = try await one.exchanged(code, nonce: "n")
        let body = try first.body(isRevealing: false)
        #expect(body["stored"] == true && body["refresh_token"] == nil && body["replayed"] == nil)
        let record = try #require(try fixture.records().first)
        #expect(body["user_id"]?.string == record.user.userID.rawValue)
        #expect(record.state == .active)
        let token = try first.body(isRevealing: true)["refresh_token"]?.string
        #expect(try one.vault.current.token(of: record).text.revealed() == token)
        for replica in [one, two] {
            let again = try await replica.exchanged(code, nonce: "n").body(isRevealing: true)
            #expect(again["replayed"] == true && again["refresh_token"]?.string == token)
            #expect(again["access_token"] == body["access_token"])
        }
        #expect(try await fixture.requests("/auth/token") == 1)
    }

    @Test(arguments: Backend.available)
    func `three requests at once on two replicas send a code once`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replicas = [try fixture.replica("one"), try fixture.replica("two")]
        try await fixture.fault(["endpoint": "/auth/token", "delay": "300ms", "count": 5])
        for _ in 0..<5 {
            let code = try await fixture.code()
            let answers = try await withThrowingTaskGroup(of: JSON.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        try await replicas[number % 2].exchanged(code).body(isRevealing: true)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map { $0["refresh_token"] }).count == 1)
            #expect(answers.count { $0["replayed"] == true } == 2)
        }
        #expect(try await fixture.requests("/auth/token") == 5)
        #expect(try fixture.records().count == 5)
    }

    @Test(arguments: Backend.available)
    func `a repeat with other parameters is a conflict, and nothing is sent`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code(nonce: "n")
        _ = try await replica.exchanged(code, nonce: "n")
        for nonce in [nil, "other"] {
            let error = try await Diagnosis.thrown {
                try await replica.exchanged(code, nonce: nonce)
            }
            #expect(error.code == "code_conflict")
        }
        let unstored = try await Diagnosis.thrown {
            try await replica.exchanged(code, nonce: "n", isStoring: false)
        }
        #expect(unstored.code == "code_conflict")
        let error = try await Diagnosis.thrown {
            try await replica.exchanged(code, of: ServiceFixture.web, nonce: "n")
        }
        #expect(error.code == "code_conflict")
        #expect(try await fixture.requests("/auth/token") == 1)
    }

    @Test(arguments: Backend.available)
    func `a code can be used after an outage`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code()
        try await fixture.fault(["endpoint": "/auth/token", "status": 503])
        let error = try await Diagnosis.thrown { try await replica.exchanged(code) }
        #expect(error.exitCode == .temporary && error.code == "outage")
        let body = try await replica.exchanged(code).body(isRevealing: false)
        #expect(body["stored"] == true && body["replayed"] == nil)
    }

    @Test(arguments: Backend.available)
    func `a lost response is never followed by a second request`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let (one, two) = (try fixture.replica("one"), try fixture.replica("two"))
        let code = try await fixture.code()
        try await fixture.fault(["endpoint": "/auth/token", "cut": "no_answer"])
        for replica in [one, two, one] {
            let error = try await Diagnosis.thrown { try await replica.exchanged(code) }
            #expect(error.code == "code_may_be_spent" && error.exitCode == .outcomeUnknown)
        }
        #expect(try await fixture.requests("/auth/token") == 1)
    }

    @Test(arguments: Backend.available)
    func `a code that a killed process had sent may be spent`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code()
        let input = ExchangeInput(
            code, for: try #require(replica.clients[ServiceFixture.app]), isClientGiven: true)
        let lease = Lease(owner: "dead", duration: .seconds(1))
        #expect(try fixture.store().begin(try input.request, for: lease) == .send)
        let error = try await Diagnosis.thrown { try await replica.exchanged(code) }
        #expect(error.code == "code_may_be_spent")
        #expect(try await fixture.requests("/auth/token") == 0)
    }

    @Test(arguments: Backend.available)
    func `Apple's refusal is returned again to a repeat`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = AuthorizationCode(SecretText("c0123456789.0.abcd.efgh"))
        for _ in 0..<2 {
            let answer = try await replica.exchanged(code)
            let error = try await Diagnosis.thrown { try answer.body(isRevealing: true) }
            #expect(error.code == "invalid_grant" && error.exitCode == .grantRefused)
            #expect(error.apple?.code == .invalidGrant && error.status == 400)
        }
        #expect(try await fixture.requests("/auth/token") == 1)
    }

    @Test(arguments: Backend.available)
    func `with a wrong nonce, the token is stored but not returned`(_ backend: Backend) async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code(nonce: "right")
        for _ in 0..<2 {
            let answer = try await replica.exchanged(code, nonce: "wrong", isStoring: false)
            let error = try await Diagnosis.thrown { try answer.body(isRevealing: true) }
            #expect(error.code == "identity_token_invalid")
            #expect(error.message.contains("nonce"))
        }
        #expect(try fixture.records().map(\.state) == [.active])
    }

    @Test(arguments: Backend.available)
    func `without Apple's keys, the signature is skipped`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica(hasKeys: false)
        let code = try await fixture.code(nonce: "n")
        let body = try await replica.exchanged(code, nonce: "n").body(isRevealing: false)
        #expect(body["stored"] == true && body["user_id"]?.string != nil)
        let checks = body["checks"]?.elements ?? []
        let skipped = checks.filter { $0["status"] == "skipped" }.compactMap { $0["name"]?.string }
        #expect(skipped.contains("signature") && skipped.contains("key"))
        #expect(checks.allSatisfy { $0["status"] != "failed" })
        let wrong = try await fixture.code(nonce: "n")
        let answer = try await replica.exchanged(wrong, nonce: "other")
        let error = try await Diagnosis.thrown { try answer.body(isRevealing: true) }
        #expect(error.code == "identity_token_invalid")
    }

    /// The emulator's clock is Apple's; that of the fixture is this machine's.
    @Test(arguments: Backend.available)
    func `a wrong clock of this machine does not refuse a sign-in`(_ backend: Backend) async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        _ = try await fixture.emulator.control("switches", ["secret_clock": "real"])
        for (number, offset) in [75, 120, -120, 3600, -90_000].enumerated() {
            _ = try await fixture.emulator.control("clock", ["offset": .integer(offset)])
            let body = try await replica.exchanged(try await fixture.code(nonce: "n"), nonce: "n")
                .body(isRevealing: false)
            #expect(body["stored"] == true && body["user_id"] != nil, "\(offset)")
            let signedIn = try fixture.records().compactMap(\.signedInAt)
            #expect(signedIn.count == number + 1)
            #expect(signedIn.contains(fixture.now.value + .seconds(offset)), "\(offset)")
        }
    }

    @Test(arguments: [-90_000, 90_000])
    func `a wrong Date of a proxy does not refuse a sign-in`(_ offset: Int) async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let wrong = fixture.now.value + .seconds(offset)
        let replica = try fixture.replica { _, send in
            let response = try await send()
            return HTTPResponse(
                status: response.status, fields: [HTTPField("Date", wrong.httpDate)],
                body: response.body)
        }
        let body = try await replica.exchanged(try await fixture.code()).body(isRevealing: false)
        #expect(body["stored"] == true && body["user_id"] != nil)
    }

    /// Apple reports the event before this server has stored the token.
    @Test(arguments: Backend.available)
    func `a token that is stored late gets its user's events since the sign-in`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let rows: [(aud: String, after: Int, state: VaultState)] = [
            ("com.example.app", 1, .consentRevoked), ("com.example.app", 0, .active),
            ("com.example.web", 1, .consentRevoked), ("com.example.foreign", 1, .active),
        ]
        for (number, row) in rows.enumerated() {
            let user = Mutable("")
            let replica = try fixture.replica { request, send in
                let response = try await send()
                guard request.url.hasSuffix("/auth/token") else { return response }
                try fixture.receiveConsentRevoked(
                    number, of: user.value, for: row.aud,
                    at: fixture.now.value + .seconds(row.after))
                return response
            }
            let name = "user\(number)"
            let added = try await fixture.emulator.control("users", ["name": .string(name)])
            user.value = try #require(added["user"]?["sub"]?.string)
            let body = try await replica.exchanged(try await fixture.code(user: name))
                .body(isRevealing: false)
            #expect(body["stored"] == true && body["user_id"]?.string == user.value)
            let records = try fixture.records().filter { $0.user.userID.rawValue == user.value }
            #expect(records.map(\.state) == [row.state], "\(row)")
        }
    }

    @Test(arguments: Backend.available)
    func `without store, the token is returned and not stored`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let body = try await replica.exchanged(try await fixture.code(), isStoring: false)
            .body(isRevealing: false)
        #expect(body["refresh_token"]?.string != nil && body["stored"] == nil)
        #expect(try fixture.records().isEmpty)
    }

    @Test func `a token is returned to callers with the scope, or if it was not stored`() throws {
        func isShown(_ isStored: Bool?, isRevealing: Bool, mayReveal: Bool) throws -> Bool {
            let answer = ExchangeAnswer.exchanged(
                [.init("refresh_token", "r")], isStored: isStored)
            return try answer.body(isRevealing: isRevealing, mayReveal: mayReveal)["refresh_token"]
                != nil
        }
        for isRevealing in [true, false] {
            // A repetition by another caller than the one that asked for store: false.
            #expect(try !isShown(nil, isRevealing: isRevealing, mayReveal: false))
            #expect(try isShown(nil, isRevealing: isRevealing, mayReveal: true))
            #expect(try !isShown(true, isRevealing: isRevealing, mayReveal: false))
            #expect(try isShown(true, isRevealing: isRevealing, mayReveal: true) == isRevealing)
            #expect(try isShown(false, isRevealing: isRevealing, mayReveal: false))
        }
    }

    @Test
    func `a token that cannot be stored is returned, and stored later`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let holder = Mutable<DatabaseLock?>(nil)
        let replica = try fixture.replica(timeout: .milliseconds(200)) { request, send in
            let response = try await send()
            // Another process locks the database from now on.
            if request.url.hasSuffix("/auth/token") {
                holder.value = try DatabaseLock(fixture.url)
            }
            return response
        }
        let answer = try await replica.exchanged(try await fixture.code())
        let body = try answer.body(isRevealing: false)
        #expect(body["stored"] == false && body["refresh_token"]?.string != nil)
        #expect(fixture.log.names.contains("token_not_stored"))
        holder.value = nil
        try await eventually("the token is stored") { try !fixture.records().isEmpty }
        await replica.exchange.drain()
    }

    @Test func `a token of an unknown user is neither stored nor reported as stored`() async throws
    {
        let fixture = try await ServiceFixture(.sqlite)
        let replica = try fixture.replica { request, send in
            let response = try await send()
            guard request.url.hasSuffix("/auth/token") else { return response }
            // An identity token without a subject.
            let tokens = try JSON(response.body)
            let parts = tokens["id_token"]?.string?.split(separator: ".") ?? []
            let forged = "\(parts[0]).\(Base64URL.encode(Array("{}".utf8))).\(parts[2])"
            return HTTPResponse(
                status: 200,
                body: JSON.object([
                    .init("refresh_token", tokens["refresh_token"] ?? .null),
                    .init("access_token", "a"), .init("token_type", "Bearer"),
                    .init("expires_in", 3600), .init("id_token", .string(forged)),
                ]).bytes)
        }
        let answer = try await replica.exchanged(try await fixture.code())
        let error = try await Diagnosis.thrown { try answer.body(isRevealing: true) }
        #expect(error.code == "identity_token_invalid")
        #expect(error.hints.contains { $0.contains("not stored") })
        #expect(fixture.log.names.contains("token_not_stored"))
        #expect(try fixture.records().isEmpty)
    }

    @Test(arguments: Backend.available)
    func `a caller that disconnects does not change the outcome`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let sent = Mutable(false)
        let replica = try fixture.replica { _, send in
            sent.value = true
            return try await send()
        }
        try await fixture.fault(["endpoint": "/auth/token", "delay": "300ms"])
        let code = try await fixture.code()
        let caller = Task { try await replica.exchanged(code) }
        try await eventually("the code is sent") { sent.value }
        caller.cancel()
        await replica.exchange.drain()
        #expect(try fixture.records().map(\.state) == [.active])
        let body = try await replica.exchanged(code).body(isRevealing: false)
        #expect(body["replayed"] == true)
    }
}
