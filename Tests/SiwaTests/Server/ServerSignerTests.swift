import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// siwa-server whose profiles have their secrets signed behind a socket.
@Suite(.blocking) struct ServerSignerTests {
    private let fixture: ServerFixture
    private let setup: SignerSetup
    private let socket: SignerSocket

    init() async throws {
        fixture = try await ServerFixture()
        setup = try await SignerSetup(fixture.apple)
        socket = try setup.signingSocket()
        try setup.configure(
            [.init("socket", .string(socket.path)), .init("timeout", "1s")],
            server: fixture.listeners, as: "server.json")
    }

    private func exchange(
        user: Int, at server: ServerProcess
    ) async throws -> HTTPAnswer {
        let code = try await fixture.code(of: user)
        return try await server.api("POST", "/v1/exchange", ["code": .string(code)])
    }

    private func secret(
        _ profile: String, _ lifetime: String, at server: ServerProcess
    ) async throws -> HTTPAnswer {
        try await server.api("GET", "/v1/secret?profile=\(profile)&lifetime=\(lifetime)")
    }

    private func isReady(_ server: ServerProcess) async throws -> Bool {
        try await server.call("metrics", "GET", "/readyz").status == 200
    }

    private func signatures(_ outcome: String, at server: ServerProcess) async throws -> Double? {
        try await server.metric("siwa_signer_requests_total{outcome=\"\(outcome)\"}")
    }

    @Test func `sign-ins share a signature, and callers of an API get four a minute`() async throws
    {
        let server = try await fixture.serve()
        // Two profiles have the signer.
        #expect(socket.calls == 2)
        for user in 1...3 { #expect(try await exchange(user: user, at: server).status == 200) }
        #expect(try await isReady(server))
        #expect(socket.calls == 2)
        for lifetime in ["10m", "20m", "30m", "40m", "10m"] {
            #expect(try await secret("app", lifetime, at: server).status == 200)
        }
        #expect(socket.calls == 6)
        let fifth = try await secret("app", "50m", at: server)
        #expect(try fifth.status == 429 && fifth.json["code"] == "throttled", "\(fifth)")
        let pause = try #require(fifth["Retry-After"].flatMap { Int($0) })
        #expect((1...60).contains(pause))
        #expect(try await secret("app", "20m", at: server).status == 200)
        #expect(
            try await secret("web", "10m", at: server).status == 200, "another profile's signer")
        #expect(socket.calls == 7)
        #expect(try await signatures("signed", at: server) == 7)
        #expect(try await server.metric("siwa_signer_duration_seconds_count") == 7)
        let page = try await server.call("metrics", "GET", "/").body
        #expect(page.contains("signer of app</th><td>signs<"), "\(page)")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `concurrent callers of an API share one signature`() async throws {
        let server = try await fixture.serve()
        socket.mood = .isSlow
        let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
            for _ in 0..<8 { group.addTask { try await secret("app", "10m", at: server) } }
            try await eventually("the signer is asked") { socket.open > 0 }
            socket.mood = .signs
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(socket.calls == 3)
        #expect(try await server.stop().ending == .exit(0))
    }

    static let failures: [(SignerSocket.Mood, Int, String, String)] = [
        (.answers("error=later\n\n"), 503, "signer_unavailable", "unavailable"),
        (.isSilent, 503, "signer_unavailable", "unavailable"),
        (.dies, 503, "signer_unavailable", "unavailable"),
        (.answers("error=failed\n\n"), 502, "signer_refused", "refused"),
        (
            .answers("signature=\(String(repeating: "A", count: 86))\n\n"), 502,
            "signer_invalid_signature", "invalid_signature"
        ),
        (.answers(String(repeating: "x", count: 70_000)), 502, "signer_refused", "refused"),
    ]

    @Test func `a signer that fails is a documented status, while the old secret serves`()
        async throws
    {
        let server = try await fixture.serve()
        var counts: [String: Double] = [:]
        for (index, failure) in Self.failures.enumerated() {
            let (mood, status, code, outcome) = failure
            socket.mood = mood
            // Three for a profile are not too many.
            let answer = try await secret(index < 3 ? "app" : "web", "10m", at: server)
            #expect(try answer.status == status && answer.json["code"]?.string == code, "\(answer)")
            counts[outcome, default: 0] += 1
            #expect(try await signatures(outcome, at: server) == counts[outcome], "\(mood)")
            let line = try #require(try server.log("signer_failed").last)
            #expect(line["code"]?.string == outcome)
        }
        #expect(try await exchange(user: 1, at: server).status == 200)
        #expect(try await isReady(server))
        socket.stop()
        #expect(try await exchange(user: 2, at: server).status == 200, "the service has died")
        #expect(try await isReady(server))
        let answer = try await secret("app", "10m", at: server)
        #expect(try answer.status == 503 && answer.json["code"] == "signer_unavailable")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `a signer that denied is not asked again until SIGHUP, by any profile`() async throws
    {
        let server = try await fixture.serve()
        socket.mood = .answers("error=denied\n\n")
        let asked = socket.calls
        for round in 0..<6 {
            let answer = try await secret(round == 0 ? "web" : "app", "10m", at: server)
            #expect(
                try answer.status == 502 && answer.json["code"] == "signer_refused", "\(answer)")
            socket.mood = .signs
        }
        #expect(socket.calls == asked + 1)
        #expect(try await exchange(user: 1, at: server).status == 200, "the old secret serves")
        #expect(try await isReady(server))
        #expect(try await signatures("denied", at: server) == 2)
        let page = try await server.call("metrics", "GET", "/").body
        #expect(page.contains("signer of web</th><td>does not sign<"), "\(page)")
        server.program.signal(SIGHUP)
        try await eventually("the settings are read again") {
            try server.log("reloaded").count == 1
        }
        #expect(try await secret("app", "10m", at: server).status == 200)
        #expect(try await secret("web", "10m", at: server).status == 200)
        #expect(socket.calls == asked + 3, "the secrets of requests are those from before")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `a server whose signer denies starts, asks once, and spends no code`() async throws {
        socket.mood = .answers("error=denied\n\n")
        let server = try await fixture.serve()
        #expect(socket.calls == 1, "a token may lock after three wrong PINs")
        socket.mood = .signs
        let code = try await fixture.code(of: 1)
        let answer = try await server.api("POST", "/v1/exchange", ["code": .string(code)])
        #expect(try answer.status == 502 && answer.json["code"] == "signer_refused", "\(answer)")
        #expect(try await !isReady(server))
        #expect(try await fixture.apple.requests().isEmpty, "nothing was sent")
        #expect(socket.calls == 1)
        server.program.signal(SIGHUP)
        try await eventually("the settings are read again") {
            try server.log("reloaded").count == 1
        }
        let again = try await server.api("POST", "/v1/exchange", ["code": .string(code)])
        #expect(again.status == 200, "\(again)")
        try await eventually("the other profile has a secret, too") { try await isReady(server) }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `a revocation waits for a signer that is unavailable`() async throws {
        _ = try await fixture.vault.store([1])
        socket.mood = .answers("error=later\n\n")
        let server = try await fixture.serve()
        #expect(try await !isReady(server))
        let user = JSON.string(fixture.vault.people.userID(1))
        let answer = try await server.api("POST", "/v1/revoke", ["user_id": user])
        #expect(answer.status == 202, "\(answer)")
        #expect(try await fixture.apple.requests(to: "/auth/revoke").isEmpty)
        socket.mood = .signs
        try await eventually("it is revoked") {
            try fixture.vault.opened()[fixture.vault.user(1)]?.map(\.state) == [.revoked]
        }
        try await eventually("the other profile has a secret, too") { try await isReady(server) }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: [
        ("a file in place of the socket", "signer_unusable"),
        ("another key", "signer_invalid_signature"),
    ])
    func `a server whose signer must be fixed does not start`(
        _ fault: String, _ code: String
    ) async throws {
        if code == "signer_unusable" {
            socket.stop()
            try setup.folder.write("sign.sock", "")
        } else {
            socket.mood = .answers("signature=\(String(repeating: "A", count: 86))\n\n")
        }
        for command in ["check", "serve"] {
            let result = try await fixture.run(command)
            #expect(result.ending == .exit(3) && result.errors.contains(code), "\(result)")
        }
    }

    @Test func `siwa-server needs the socket of an SSH agent`() async throws {
        let agent = try FakeSSHAgent(at: setup.folder.path("agent.sock"), try setup.key())
        let members = [JSON.Member("ssh_agent", .string(agent.fingerprint))]
        try setup.configure(members, server: fixture.listeners, as: "server.json")
        let missing = try await fixture.run("check", environment: ["SSH_AUTH_SOCK": agent.path])
        #expect(missing.ending == .exit(3) && missing.errors.contains("agent_socket"), "\(missing)")
        try setup.configure(
            members + [.init("agent_socket", .string(agent.path))], server: fixture.listeners,
            as: "server.json")
        let server = try await fixture.serve()
        #expect(try await exchange(user: 1, at: server).status == 200)
        #expect(agent.calls == 2, "one for each profile")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `doctor asks Apple whether the signer's key is that of the Key ID`() async throws {
        try setup.configure([.init("socket", .string(socket.path))])
        let result = try await setup.siwa("doctor", "--online", "--json")
        #expect(result.exitCode == 0, "\(result)")
        let checks = try #require(try result.json["checks"]?.elements)
        for name in ["signer", "probe"] {
            #expect(
                checks.contains { $0["name"]?.string == name && $0["status"] == "ok" }, "\(result)")
        }
    }
}
