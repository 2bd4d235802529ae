import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Synchronization
import Testing

/// Posts notifications over many connections until each is answered with 200, while processes are
/// killed; an application accepts all events except one.
final class ReceivingRun: Sendable {
    let count: Int
    let fixture: ServerFixture
    let receiver: EventReceiver
    private let signer: NotificationSigner
    private let place: String
    private let progress = Mutex(Progress())
    private let server: Mutex<ServerProcess>

    /// The progress.
    struct Progress {
        /// Answered 200.
        var acknowledged = 0
        /// The connection ended without an answer.
        var unanswered = 0
        /// Answered 503.
        var unavailable = 0
    }

    /// The user whose event no application ever accepts.
    static let poisoned = 1

    init(_ backend: VaultBackend, count: Int, on database: PostgresServer?) async throws {
        self.count = count
        fixture = try await ServerFixture(backend, on: database)
        try fixture.vault.storeMade(1...count)
        signer = try NotificationSigner()
        let poison = "\"\(fixture.vault.people.userID(Self.poisoned))\""
        receiver = try EventReceiver { _, body in body.contains(poison) ? 500 : 204 }
        let (folder, keySet, url) = (fixture.apple.folder, signer.keySet, receiver.url)
        try folder.write("apple/keys.json", keySet.text)
        try folder.write("apple/webhook.secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        let settings = { (address: String) -> [JSON.Member] in
            [
                .init("notifications", ["listen": .string(address)]),
                .init("metrics", ["listen": "127.0.0.1:0"]), .init("jwks_file", "keys.json"),
                .init("deliver", ["url": .string(url), "secret_file": "webhook.secret"]),
            ]
        }
        let first = try await fixture.serve(settings("127.0.0.1:0"))
        place = try first.place("notifications")
        // The same port after each start.
        try fixture.configure(settings(place))
        server = Mutex(first)
    }

    /// The current progress.
    var now: Progress { progress.withLock { $0 } }

    /// The id of an event.
    static func id(_ number: Int) -> String { "event-\(number)" }

    /// Posts everything, in three seconds at the fastest: all would be over before the second strike.
    /// Each connection has its own times, so that the requests stay spread after an outage, which ends
    /// for all connections at once.
    func send(connections: Int = 64) async throws {
        let pause = Duration.seconds(3) / count
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 1...connections {
                group.addTask {
                    var connection: ClientSocket?
                    for number in stride(from: first, through: self.count, by: connections) {
                        let rest = start + pause * number - ContinuousClock.now
                        if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
                        try self.post(number, &connection)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func post(_ number: Int, _ connection: inout ClientSocket?) throws {
        let body = try signer.body(
            Self.id(number), about: fixture.vault.people.userID(number))
        let request = Array(
            HTTPAnswer.request(
                "POST", "/apple/notifications", [], body, keepsConnection: true
            ).utf8)
        while true {
            if connection == nil { connection = try? ClientSocket(place) }
            switch connection?.ask(request)?.status {
            case 200: return progress.withLock { $0.acknowledged += 1 }
            case 503: progress.withLock { $0.unavailable += 1 }
            case nil:
                connection = nil
                progress.withLock { $0.unanswered += 1 }
            case let status?: throw Unexpected(description: "\(number) was answered \(status)")
            }
            usleep(5000)
        }
    }

    /// An answer that nothing explains.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// Does something so many times at random moments while notifications arrive.
    ///
    /// - Returns: how often that left a request without an answer, or with 503.
    func disturb(_ times: Int, by strike: () async throws -> Void) async throws -> Int {
        var random = SeededRandom.announced(for: "moments to kill while notifications arrive")
        let slice = max(count * 9 / 10 / times, 1)
        var hits = 0
        for number in 0..<times {
            let point = number * slice + Int.random(in: 1...slice, using: &random)
            try await eventually("\(point) are acknowledged", limit: .seconds(1200)) {
                now.acknowledged >= point
            }
            let before = now
            try await strike()
            if now.unanswered + now.unavailable > before.unanswered + before.unavailable {
                hits += 1
            }
        }
        return hits
    }

    /// Kills the server, and starts it again.
    func killServer() async throws {
        try await server.withLock { $0 }.kill()
        let next = try await fixture.serve()
        server.withLock { $0 = next }
    }

    /// Ends the server as a service manager does.
    func stop() async throws -> ProgramResult { try await server.withLock { $0 }.stop() }

    /// How often the vault moved each user's token because the consent was withdrawn.
    func moves() throws -> [String: Int] {
        let store = try fixture.vault.vault().store
        let filter = VaultHistoryFilter(events: [.consentRevoked])
        var moves: [String: Int] = [:]
        var position: VaultHistoryPosition?
        while case let page = try store.history(filter, after: position, limit: 1000),
            let next = page.next
        {
            for entry in page.entries { moves[entry.user.userID.rawValue, default: 0] += 1 }
            position = next
        }
        return moves
    }
}
