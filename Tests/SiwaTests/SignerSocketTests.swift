import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Services and SSH agents that sign in place of a key file.
@Suite struct SignerSocketTests {
    private let setup: SignerSetup

    init() async throws { setup = try await SignerSetup() }

    private func configure(_ socket: SignerSocket) throws {
        try setup.configure([.init("socket", .string(socket.path)), .init("timeout", "2s")])
    }

    @Test func `a code is exchanged with a secret that a service signed`() async throws {
        let socket = try setup.signingSocket()
        try configure(socket)
        try setup.folder.write("code", try await setup.apple.code())
        let result = try await setup.siwa(
            "exchange", "--code", "@" + setup.folder.path("code"), "--strict")
        #expect(try result.json["refresh_token"]?.string != nil, "\(result)")
        #expect(socket.calls == 1)
    }

    @Test(arguments: [
        ("error=later\n\n", 75, "signer_unavailable"),
        ("error=denied\n\n", 3, "signer_refused"),
        ("error=failed\n\n", 3, "signer_refused"),
        ("error=another\n\n", 3, "signer_refused"),
        ("", 75, "signer_unavailable"),
        ("later=1\nsignature=AAAA\n\n", 3, "signer_invalid_signature"),
        ("signature=AAAA", 3, "signer_invalid_signature"),
        (String(repeating: "x", count: 70_000), 3, "signer_refused"),
    ]) func `what a service answers has a documented exit code`(
        _ answer: String, _ exitCode: CInt, _ code: String
    ) async throws {
        let socket = try setup.signingSocket()
        socket.mood = .answers(answer)
        try configure(socket)
        let result = try await setup.siwa("secret", "--timeout", "3s")
        #expect(result.exitCode == exitCode, "\(result)")
        #expect(result.errors.contains("siwa: \(code): "), "\(result)")
    }

    @Test func `a service that is away is temporary, and what is no socket is not`() async throws {
        let path = setup.folder.path("sign.sock")
        try setup.configure([.init("socket", .string(path))])
        #expect(try await setup.siwa("secret", "--timeout", "2s").exitCode == 75)
        try setup.folder.write("sign.sock", "")
        let result = try await setup.siwa("secret", "--timeout", "2s")
        #expect(result.exitCode == 3 && result.errors.contains("is not a socket"), "\(result)")
    }

    @Test func `a socket in a folder that all can write is used, but not with --strict`()
        async throws
    {
        let path = setup.folder.path("open/sign.sock")
        try setup.folder.write("open/other", "")
        chmod(setup.folder.path("open"), 0o777)
        let socket = try SignerSocket(at: path, try setup.key())
        try configure(socket)
        #expect(try await setup.siwa("secret").exitCode == 0, "as an emptyDir of Kubernetes is")
        let result = try await setup.siwa("secret", "--strict")
        #expect(result.exitCode == 3 && result.errors.contains("signer_unusable"), "\(result)")
        #expect(socket.calls == 1)
    }

    static let hasAgent =
        Executable.installed("ssh-agent") != nil && Executable.installed("ssh-add") != nil

    @Test(.enabled(if: hasAgent, "OpenSSH is not installed"))
    func `an SSH agent signs with the key itself`() async throws {
        let socket = setup.folder.path("agent.sock")
        let agent = try #require(Executable.installed("ssh-agent")).start(
            Executable.Call(["-D", "-a", socket], environment: ["PATH": "/usr/bin:/bin"]))
        defer { agent.signal(SIGTERM) }
        func add(_ arguments: String...) async throws -> ProgramResult {
            try await #require(Executable.installed("ssh-add")).run(
                Executable.Call(
                    arguments,
                    environment: [
                        "SSH_AUTH_SOCK": socket, "PATH": "/usr/bin:/bin",
                        "SSH_ASKPASS": setup.folder.path("ask"), "SSH_ASKPASS_REQUIRE": "force",
                    ]))
        }
        // 2 without an answer: the socket is there before the agent listens.
        try await eventually("the agent listens") { try await add("-l").exitCode == 1 }
        func configure(_ fingerprint: String) throws {
            try setup.configure([
                .init("ssh_agent", .string(fingerprint)), .init("agent_socket", .string(socket)),
                .init("timeout", "2s"),
            ])
        }
        func secret() async throws -> ProgramResult {
            try await setup.siwa("secret", "--timeout", "2s")
        }
        chmod(setup.folder.path("key.p8"), 0o600)
        #expect(try await add(setup.folder.path("key.p8")).exitCode == 0)
        let fingerprint = try #require(
            try await add("-l").output.split(separator: " ").first { $0.hasPrefix("SHA256:") })
        try configure(String(fingerprint))
        let result = try await setup.siwa("exchange", "--code", try await setup.apple.code())
        #expect(try result.json["refresh_token"]?.string != nil, "\(result)")

        let ask = try setup.folder.write("ask", "#!/bin/sh\necho locked\n")
        chmod(ask, 0o700)
        #expect(try await add("-x").exitCode == 0)
        #expect(try await secret().exitCode == 75, "a locked agent is temporary")
        #expect(try await add("-X").exitCode == 0)
        #expect(try await add("-D").exitCode == 0)
        #expect(try await secret().exitCode == 75, "an empty agent is temporary")
        let other = setup.folder.path("other")
        let made = try await #require(Executable.installed("ssh-keygen")).run(
            Executable.Call(["-q", "-t", "ecdsa", "-N", "", "-f", other]))
        #expect(made.exitCode == 0, "\(made)")
        #expect(try await add(other).exitCode == 0)
        #expect(try await secret().exitCode == 3, "an agent with other keys only denies")
        try configure("SHA256:AAAA")
        let wrong = try await secret()
        #expect(wrong.exitCode == 3 && wrong.errors.contains("is not the public key"), "\(wrong)")
    }
}
