import Foundation
import FoundationNetworking
import SIWAEmulator
import SIWAEmulatorServer
import SIWAHTTPServer
import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct EmulatorServerTests {
    @Test func `a code is exchanged over a socket`() async throws {
        try await Served.run { served in
            let code = try await served.control("codes", ["client_id": .string(Served.client)])
            let form = try served.exchange(try #require(code["code"]?.string))
            let answer = try await served.send("POST", "/auth/token", body: form)
            #expect(answer.status == 200)
            #expect(try JSON(answer.body)["token_type"] == "Bearer")
            #expect(answer.fields["server"] == "Apple")
            #expect(answer.fields["content-length"] == "\(answer.body.count)")
            let log = try await served.emulator.control("requests")
            #expect(log["requests"]?.elements?.first?["content_type"] == .string(Form.contentType))
        }
    }

    @Test func `revoke responds with an empty body`() async throws {
        try await Served.run { served in
            let form = "client_id=x&client_secret=y&token=z"
            let answer = try await served.send("POST", "/auth/revoke", body: form)
            #expect(answer.status == 200 && answer.body.isEmpty)
            #expect(answer.fields["content-length"] == "0")
            #expect(answer.fields["content-type"] == nil)
        }
    }

    @Test func `HEAD of the keys returns the header section of GET`() async throws {
        try await Served.run { served in
            let text = try await RawClient.talk(to: served.port) { client in
                client.send(
                    "HEAD /auth/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return client.readToEnd()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\n"), "\(text)")
            let length = try await served.send("GET", "/auth/keys").body.count
            #expect(text.contains("Content-Length: \(length)\r\n"), "\(text)")
        }
    }

    @Test func `Date is the emulator's time and appears once`() async throws {
        try await Served.run { served in
            try await served.control("clock", ["offset": "-3650d"])
            let text = try await RawClient.talk(to: served.port) { client in
                client.send(
                    "GET /auth/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return client.readToEnd()
            }
            let dates = text.split(separator: "\r\n").filter { $0.hasPrefix("Date: ") }
            #expect(dates.count == 1)
            let date = try #require(dates.first.map { String($0.dropFirst(6)) })
            let moment = try #require(NumericDate(httpDate: date))
            #expect(
                moment < NumericDate(Int(Date().timeIntervalSince1970)) - .seconds(3649 * 86_400))
        }
    }

    @Test func `of 64 parallel keep-alive connections, exactly one exchanges the code`()
        async throws
    {
        try await Served.run { served in
            let code = try await served.control("codes", ["client_id": .string(Served.client)])
            let form = try served.exchange(try #require(code["code"]?.string))
            let settings = URLSessionConfiguration.ephemeral
            settings.httpMaximumConnectionsPerHost = 64
            let session = URLSession(configuration: settings)
            defer { session.invalidateAndCancel() }
            let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        let first = try await served.send(
                            "POST", "/auth/token", body: form, on: session)
                        let second = try await served.send("GET", "/auth/keys", on: session)
                        return [first.status, second.status]
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == [200, 200] } == 1)
            #expect(statuses.count { $0 == [400, 200] } == 63)
        }
    }

    @Test func `a delayed response delays neither other responses nor the shutdown`() async throws {
        var late: Task<String, any Error>?
        try await Served.run { served in
            try await served.control("faults", ["endpoint": "/auth/revoke", "delay": "1h"])
            late = Task {
                try await RawClient.talk(to: served.port) { client in
                    client.send("POST /auth/revoke HTTP/1.1\r\nHost: x\r\n\r\n")
                    return client.readToEnd()
                }
            }
            while try await served.emulator.control("requests")["requests"] == [] {
                await Task.yield()
            }
            #expect(try await served.send("GET", "/auth/keys").status == 200)
        }
        _ = try await late?.value
    }

    @Test func `a port that is in use is reported`() async throws {
        try await Served.run { served in
            let address = EmulatorServer.Address(port: served.port)
            await #expect(throws: ServerError.inUse(address: "127.0.0.1", port: served.port)) {
                try await EmulatorServer.serving(served.emulator, on: address) { _ in }
            }
            await #expect(throws: ServerError.address("localhost")) {
                try await EmulatorServer.serving(
                    served.emulator, on: EmulatorServer.Address(host: "localhost")
                ) { _ in }
            }
        }
    }
}
