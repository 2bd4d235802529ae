import SIWACrypto
import SIWACurlTransport
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAServer

@Suite struct DeliveryWorkerTests {
    typealias Backend = ServiceFixture.Backend

    @Test(arguments: Backend.available)
    func `an event is posted with its signature until the application accepts it`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        try await RawServer.serving(
            [.readRequest, .answer(500), .close], [.readRequest, .answer(204), .close]
        ) { server in
            let secret = try WebhookSecrets.newLine()
            let id = try fixture.receive(1, of: "alice")
            try await fixture.delivering(to: server.url + "/events", secret) {
                try await eventually("it is delivered") { try fixture.state(id) == .done }
            }
            let requests = server.requests
            #expect(requests.count == 2)
            for request in requests {
                #expect(request.line == "POST /events HTTP/1.1")
                #expect(request["webhook-id"] == id.rawValue)
                #expect(request["content-type"] == "application/json")
                let timestamp = try #require(Int(request["webhook-timestamp"] ?? ""))
                let expected = try WebhookSecrets(secret).signature(
                    id: id.rawValue, timestamp: timestamp, body: Array(request.body.utf8))
                #expect(request["webhook-signature"] == expected)
            }
            #expect(requests[0].body == requests[1].body)
            #expect(try JSON(text: requests[0].body)["number"] == 1)
        }
    }

    @Test(arguments: Backend.available)
    func `a user's events are delivered in the order in which they happened`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        try await RawServer.serving([.readRequest, .answer(200), .again]) { server in
            let ids = try [3, 1, 2].map { try fixture.receive($0, of: "alice", at: $0) }
            try await fixture.delivering(to: server.url, try WebhookSecrets.newLine()) {
                try await eventually("all are delivered") {
                    try ids.allSatisfy { try fixture.state($0) == .done }
                }
            }
            let order = try server.requests.map { try JSON(text: $0.body)["number"]?.integer }
            #expect(order == [1, 2, 3])
        }
    }

    @Test(arguments: Backend.available)
    func `one user's undeliverable event does not delay other users' events`(_ backend: Backend)
        async throws
    {
        let fixture = try await ServiceFixture(backend)
        try await RawServer.serving(script: { _ in
            [.readRequest, .answer(500), .close]
        }) { poison in
            let poisoned = try fixture.receive(1, of: "alice")
            let held = try fixture.receive(2, of: "alice", at: 1)
            try await fixture.delivering(to: poison.url, try WebhookSecrets.newLine()) {
                try await eventually("it was tried three times") {
                    try fixture.entry(poisoned).attempts >= 3
                }
            }
            #expect(try fixture.entry(held).attempts == 0)
            #expect(try fixture.entry(poisoned).lastError?.contains("500") == true)
            try await RawServer.serving([.readRequest, .answer(200), .again]) { server in
                let other = try fixture.receive(3, of: "bob")
                try await fixture.delivering(to: server.url, try WebhookSecrets.newLine()) {
                    try await eventually("the other user's is delivered") {
                        try fixture.state(other) == .done
                    }
                    try await eventually("the poisoned one, too, and then the one it held") {
                        try fixture.state(held) == .done
                    }
                }
            }
        }
    }

    @Test
    func `a redirect is not followed`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        try await RawServer.serving([.readRequest, .answer(200), .close]) { other in
            try await RawServer.serving([
                .readRequest, .answer(307, fields: ["Location: \(other.url)/"]), .close,
            ]) { server in
                let outcome = try await fixture.attempt(at: server.url)
                #expect(outcome.error?.contains("307") == true)
                #expect(outcome.next != .done)
                #expect(other.connectionCount == 0)
            }
        }
    }

    @Test
    func `at most 64 KiB of a response are read`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let flood: [Step] = [
            .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"),
            .stream([UInt8](repeating: 0x61, count: 65_536)),
        ]
        try await RawServer.serving(flood) { server in
            let outcome = try await fixture.attempt(at: server.url)
            #expect(outcome.next == .done)
            // The sockets buffer some more.
            #expect(server.sentCount < 64 << 20)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 A\r\nA: ",
    ])
    func `an event is accepted as soon as the status line arrives`(_ begin: String) async throws {
        let fixture = try await ServiceFixture(.sqlite)
        for end in [Step.hold, .close] {
            try await RawServer.serving([.readRequest, .write(begin), end]) { server in
                let outcome = try await fixture.attempt(at: server.url)
                #expect(outcome.next == .done, "\(outcome)")
            }
        }
    }

    @Test
    func `an interim response does not count as acceptance`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let begin = Step.write("HTTP/1.1 103 Early Hints\r\n\r\n")
        try await RawServer.serving([.readRequest, begin, .close]) { server in
            let outcome = try await fixture.attempt(at: server.url)
            #expect(outcome.next != .done)
        }
    }

    @Test
    func `a refusal whose body does not end is recognised by its header`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let head = "HTTP/1.1 503 Busy\r\nRetry-After: 1800\r\nContent-Length: 100\r\n\r\nx"
        try await RawServer.serving([.readRequest, .write(head), .hold]) { server in
            let outcome = try await fixture.attempt(at: server.url)
            #expect(outcome.next == .retry(after: .seconds(1800)))
            #expect(outcome.error == "the application answered 503")
        }
    }

    @Test
    func `Retry-After is honoured`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        try await RawServer.serving([
            .readRequest, .answer(503, fields: ["Retry-After: 1800"]), .close,
        ]) { server in
            let outcome = try await fixture.attempt(at: server.url)
            #expect(outcome.next == .retry(after: .seconds(1800)))
        }
    }

    @Test
    func `a refused connection is retried like any failure`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let closed = try await RawServer.serving([.close]) { $0.url }
        let outcome = try await fixture.attempt(at: closed)
        #expect(outcome.error?.hasPrefix("connect") == true)
    }
}

extension ServiceFixture {
    /// Receives an event, which is to be delivered.
    fileprivate func receive(
        _ number: Int, of user: String, at time: Int = 0
    ) throws -> EventID {
        let id = try #require(EventID("event-\(number)"))
        let user = VaultUser(Self.app, UserID(unchecked: user))
        let event = InboxEvent(
            id: id, type: "email-enabled", user: user,
            occurredAt: NumericDate(1_790_000_000 + time), receivedAt: now.value,
            expiresAt: NumericDate(2_000_000_000), body: Array("{\"number\":\(number)}".utf8))
        let incoming = IncomingEvent(event, isDelivered: true, notice: nil)
        let receipt = try store().receive([incoming]) { _, _ in VaultChanges() }
        #expect(receipt.stored == [id])
        return id
    }

    fileprivate func entry(_ id: EventID) throws -> InboxEntry {
        try #require(try store().inboxEvent(id).entries.first)
    }

    fileprivate func state(_ id: EventID) throws -> InboxState { try entry(id).state }

    private func worker(_ url: String, _ secret: SecretBytes) throws -> DeliveryWorker {
        let settings = DeliveryWorker.Settings(
            try DeliveryTarget(url), try WebhookSecrets(secret))
        return DeliveryWorker(
            try replica().access, { settings },
            transport: try CurlTransport(policy: .deliveries), clocks: clocks, owner: "deliverer",
            wake: WakeSignal(), log: { [log] in log.add($0) })
    }

    /// Delivers while `body` runs.
    fileprivate func delivering(
        to url: String, _ secret: SecretBytes, _ body: () async throws -> Void
    ) async throws {
        let worker = try worker(url, secret)
        let running = Task { await worker.run() }
        do {
            try await body()
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        await running.value
        await worker.drain()
    }

    /// Sends an event once.
    fileprivate func attempt(at url: String) async throws -> DeliveryOutcome {
        let delivery = DueDelivery(
            id: try #require(EventID("event")), body: Array("{}".utf8), attempts: 0, age: .zero)
        return await (try worker(url, try WebhookSecrets.newLine())).attempt(delivery)
    }
}
