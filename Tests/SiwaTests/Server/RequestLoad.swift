import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Requests of every kind, from several connections: most differ from each other, so that a server
/// that keeps something of each would show.
struct RequestLoad: Sendable {
    let server: ServerProcess
    private let fixture: ServerFixture
    private let token: String
    private let identityToken: String

    init(_ backend: VaultBackend) async throws {
        fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1])
        let users = fixture.vault.people
        let signIn = try await fixture.apple.post(
            "codes", ["client_id": "com.example.app", "user": .string(users.name(2))])
        identityToken = try #require(signIn["id_token"]?.string)
        try fixture.configure([
            .init("notifications", ["listen": "127.0.0.1:0"]),
            .init("api", ["listen": "127.0.0.1:0"]), .init("metrics", ["listen": "127.0.0.1:0"]),
        ])
        let scopes = ["refresh", "revoke", "verify", "secret", "read"].flatMap { ["--scope", $0] }
        token = try await fixture.run(["token", "add", "load"] + scopes).output
            .trimmingCharacters(in: .newlines)
        server = try await fixture.serve()
    }

    /// What the server keeps in memory that is no file's, in KiB.
    func memory() throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(server.program.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }

    /// Sends requests, each connection its share; a connection ends after a thousand.
    func send(_ numbers: Range<Int>, connections: Int = 16) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<connections {
                group.addTask { try share(of: numbers, from: first, step: connections) }
            }
            try await group.waitForAll()
        }
    }

    private func share(of numbers: Range<Int>, from first: Int, step: Int) throws {
        var sockets: [String: ClientSocket] = [:]
        let own = stride(from: numbers.lowerBound + first, to: numbers.upperBound, by: step)
        for (index, number) in own.enumerated() {
            if index % 1000 == 999 { sockets = [:] }
            let wanted = try request(number)
            let socket = try sockets[wanted.listener] ?? ClientSocket(server.place(wanted.listener))
            sockets[wanted.listener] = socket
            let answer = socket.ask(Array(wanted.text.utf8))
            guard let status = answer?.status, wanted.statuses.contains(status) else {
                throw Unexpected(
                    description: "\(wanted.text.prefix(300)) was answered "
                        + String(describing: answer?.head))
            }
        }
    }

    /// An answer that was not expected.
    private struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    private struct Wanted {
        let listener: String
        let text: String
        let statuses: [Int]
    }

    /// A request; each kind comes in turn.
    private func request(_ number: Int) throws -> Wanted {
        let user = fixture.vault.people.userID(1)
        switch number % 12 {
        case 0: return try notification(number)
        case 1: return api("POST", "/v1/verify", body: ["id_token": .string(identityToken)])
        case 2: return api("POST", "/v1/verify", body: ["id_token": .string("x.y.\(number)")])
        case 3: return api("GET", "/v1/users/\(user)")
        case 4: return api("GET", "/v1/users/nobody\(number)", status: 404)
        case 5: return api("GET", "/v1/events?limit=2")
        case 6: return api("GET", "/v1/secret?lifetime=\(number % 3000 + 300)s")
        case 7:
            return api(
                "POST", "/v1/revoke", body: ["user_id": .string("nobody\(number)")], status: 404)
        case 8: return api("GET", "/v1/events", status: 401, token: "siwa_\(number)")
        case 9:
            return api("POST", "/v1/refresh", body: ["user_id": .string(user), "max_age": "1d"])
        case 10:
            let text = HTTPAnswer.request(
                "GET", "/path/\(number)", ["X-Request-Id: id-\(number)"], keepsConnection: true)
            return Wanted(listener: "metrics", text: text, statuses: [404])
        default:
            let text = HTTPAnswer.request("GET", "/metrics", keepsConnection: true)
            return Wanted(listener: "metrics", text: text, statuses: [200])
        }
    }

    /// What no key of Apple's signed: it is refused, and looked at.
    private func notification(_ number: Int) throws -> Wanted {
        let body =
            number % 24 == 0 ? "{\"payload\":\"\(number)\"}" : "{\"payload\":\"\(identityToken)\"}"
        return Wanted(
            listener: "notifications",
            text: HTTPAnswer.request(
                "POST", "/apple/notifications", [], body, keepsConnection: true),
            statuses: [400, 401])
    }

    private func api(
        _ method: String, _ path: String, body: JSON? = nil, status: Int = 200,
        token: String? = nil
    ) -> Wanted {
        let fields =
            ["Authorization: Bearer \(token ?? self.token)"]
            + (body == nil ? [] : ["Content-Type: application/json"])
        return Wanted(
            listener: "api",
            text: HTTPAnswer.request(
                method, path, fields, body?.text ?? "", keepsConnection: true),
            statuses: [status])
    }
}
