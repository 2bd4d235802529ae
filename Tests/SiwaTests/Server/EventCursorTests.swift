import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Pulling events from databases that are restored, and waiting for events.
@Suite(.blocking) struct EventCursorTests {
    private static func serve(
        _ fixture: ServerFixture, _ signer: NotificationSigner
    ) async throws -> ServerProcess {
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        return try await fixture.serve(fixture.listeners + [.init("jwks_file", "keys.json")])
    }

    private static func post(
        _ numbers: ClosedRange<Int>, _ signer: NotificationSigner, to server: ServerProcess
    ) async throws {
        for number in numbers {
            let body = try signer.body("event-\(number)", about: "001234.\(number).0001")
            #expect(try await server.post(body).status == 200)
        }
    }

    /// The numbers of the events of a page, and the cursor after it.
    private static func pull(
        _ server: ServerProcess, after cursor: String? = nil
    ) async throws -> (numbers: [Int], cursor: String) {
        let query = cursor.map { "?after=\($0)" } ?? ""
        let page = try await server.api("GET", "/v1/events\(query)")
        try #require(page.status == 200, "\(page)")
        let ids = (try page.json["events"]?.elements ?? []).compactMap { $0["jti"]?.string }
        return (
            ids.compactMap { Int($0.dropFirst("event-".count)) },
            try #require(try page.json["cursor"]?.string)
        )
    }

    /// Copies a database whose server has ended, with what SQLite had not moved from its log into the
    /// file: on a busy machine the last connection may leave some.
    private static func copy(
        _ name: String, to copy: String, in folder: TemporaryFolder
    ) throws {
        for suffix in ["", "-wal", "-shm"] {
            let (source, target) = (folder.path(name + suffix), folder.path(copy + suffix))
            try? FileManager.default.removeItem(atPath: target)
            guard suffix != "-shm", FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: target)
        }
    }

    @Test func `after a restore, an old cursor is refused, and no event is skipped`() async throws {
        let (fixture, signer) = (try await ServerFixture(.sqlite), try NotificationSigner())
        let folder = fixture.apple.folder
        var server = try await Self.serve(fixture, signer)
        try await Self.post(1...3, signer, to: server)
        let early = try await Self.pull(server).cursor
        _ = try await server.stop()
        try Self.copy("vault.db", to: "backup.db", in: folder)
        server = try await fixture.serve()
        try await Self.post(4...6, signer, to: server)
        let late = try await Self.pull(server).cursor
        #expect(try await Self.pull(server, after: late).numbers == [])
        _ = try await server.stop()
        try Self.copy("vault.db", to: "newer.db", in: folder)
        try Self.copy("backup.db", to: "vault.db", in: folder)
        server = try await fixture.serve()

        // The restored database is behind the cursor, and then ahead of it.
        for more in [7...7, 8...12] {
            try await Self.post(more, signer, to: server)
            let refused = try await server.api("GET", "/v1/events?after=\(late)")
            #expect(refused.status == 410, "\(refused)")
            #expect(try refused.json["code"] == "cursor_unknown")
            #expect(try refused.json["retryable"] == false)
            let restart = try #require(try refused.json["restart"]?.string)
            let kept = Array(1...3) + Array(7...more.upperBound)
            #expect(try await Self.pull(server, after: restart).numbers == kept)
        }
        #expect(try await Self.pull(server, after: early).numbers == Array(7...12))
        let other = try await Self.pull(server).cursor
        _ = try await server.stop()

        // The first database accepts its own cursor again, and refuses the other's.
        try Self.copy("newer.db", to: "vault.db", in: folder)
        server = try await fixture.serve()
        try await Self.post(13...13, signer, to: server)
        #expect(try await Self.pull(server, after: late).numbers == [13])
        #expect(try await server.api("GET", "/v1/events?after=\(other)").status == 410)
    }

    @Test(arguments: VaultBackend.available)
    func `a waiting caller gets the next event, whichever replica received it`(
        _ backend: VaultBackend
    ) async throws {
        let (fixture, signer) = (try await ServerFixture(backend), try NotificationSigner())
        let server = try await Self.serve(fixture, signer)
        try await Self.post(1...1, signer, to: server)
        let cursor = try await Self.pull(server).cursor
        var receiving = server
        if backend == .postgres {
            try fixture.configure([
                .init("notifications", ["listen": "127.0.0.1:0"]), .init("jwks_file", "keys.json"),
            ])
            receiving = try await fixture.serve()
        }
        let waiting = Task {
            try await server.api("GET", "/v1/events?wait=30&after=\(cursor)").json
        }
        let others = Task {
            try await server.api("GET", "/v1/events?wait=2s&types=token.dead").json
        }
        // Without another event, the wait for other types ends by itself.
        #expect(try await others.value["events"] == [])
        try await Self.post(2...2, signer, to: receiving)
        let events = try #require(try await waiting.value["events"]?.elements)
        #expect(events.map { $0["jti"] } == ["event-2"])
    }

    @Test func `a caller that waits during the shutdown gets an empty page`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let server = try await fixture.serve(fixture.listeners)
        let place = try server.place("api")
        let waiting = try (0..<3).map { _ in
            let socket = try ClientSocket(place)
            socket.send(HTTPAnswer.request("GET", "/v1/events?wait=30"))
            return socket
        }
        // A listener reads its connections in order: after a later answer, these wait.
        #expect(try await server.api("GET", "/v1/events").status == 200)
        #expect(try await server.stop().ending == .exit(0))
        for socket in waiting {
            let page = HTTPAnswer(text: String(decoding: socket.readToEnd(), as: UTF8.self))
            #expect(page.status == 200)
            #expect(try page.json["events"] == [])
        }
    }
}
