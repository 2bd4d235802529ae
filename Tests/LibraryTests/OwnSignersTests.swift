import Foundation
import SIWACrypto
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Testing

/// The signers that the library has: a service behind a socket, and an SSH agent.
@Suite struct OwnSignersTests {
    private let apple: InProcessApple
    private let folder: TemporaryFolder
    private let key: P256PrivateKey

    init() async throws {
        apple = try await InProcessApple()
        folder = try TemporaryFolder()
        let der = Data(
            base64Encoded: apple.privateKey.split(separator: "\n").dropFirst().dropLast().joined())
        key = try P256PrivateKey(derRepresentation: SecretBytes(try #require(der)))
    }

    private func client(_ signer: any ClientSecretSigner) throws -> SignInWithAppleClient {
        try SignInWithAppleClient(
            teamID: apple.teamID, clientID: apple.client.clientID,
            key: ClientSecretKey(
                id: apple.keyID, publicKey: key.publicKey.pemRepresentation(), signer: signer),
            transport: apple.transport, now: apple.clock.now)
    }

    private func failure(
        of client: SignInWithAppleClient, timeout: Duration
    ) async throws -> SignInWithAppleError {
        let code = try await apple.signIn().code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange(code, timeout: timeout)
        }
        #expect(failure.kind == .signerFailed && !failure.codeMayBeSpent)
        #expect(try await apple.requestedPaths().isEmpty)
        return failure
    }

    @Test func `a service behind a socket signs, and serves while it is slow`() async throws {
        let socket = try SignerSocket(at: folder.path("sign.sock"), key)
        let client = try client(SocketSigner(path: socket.path))
        socket.mood = .isSlow
        let code = try await apple.signIn().code
        async let answer = client.exchange(code)
        try await eventually("the service is asked") { socket.open == 1 }
        socket.mood = .signs
        #expect(try await answer.refreshToken != nil)
        apple.clock.advance(by: .seconds(1900))
        socket.mood = .isSilent
        #expect(try await client.exchange(try await apple.signIn().code).refreshToken != nil)
        try await eventually("it is asked in the background") { socket.calls == 2 }
        socket.mood = .dies
    }

    @Test func `a service that fails is asked again, and one that denies only with another key`()
        async throws
    {
        let socket = try SignerSocket(at: folder.path("sign.sock"), key)
        let client = try client(SocketSigner(path: socket.path, timeout: .milliseconds(200)))
        for mood in [SignerSocket.Mood.isSilent, .dies, .answers("error=later\n\n")] {
            socket.mood = mood
            #expect(try await failure(of: client, timeout: .milliseconds(500)).isRetryable)
        }
        socket.mood = .answers("error=denied\n\n")
        let calls = socket.calls
        #expect(try await !failure(of: client, timeout: .seconds(60)).isRetryable)
        #expect(socket.calls == calls + 1)
        socket.mood = .signs
        #expect(try await !failure(of: client, timeout: .seconds(60)).isRetryable)
        #expect(socket.calls == calls + 1, "a token may lock after three wrong PINs")
        client.replaceKey(
            try ClientSecretKey(
                id: apple.keyID, publicKey: key.publicKey.pemRepresentation(),
                signer: SocketSigner(path: socket.path)))
        #expect(try await client.exchange(try await apple.signIn().code).refreshToken != nil)
        socket.stop()
        let signer = SocketSigner(path: socket.path)
        let error = await #expect(throws: SignerError.self) { try await signer.signature(for: [1]) }
        #expect(error?.isTemporary == true)
    }

    @Test func `an SSH agent signs`() async throws {
        let agent = try FakeSSHAgent(at: folder.path("agent.sock"), key)
        let client = try client(
            SSHAgentSigner(fingerprint: agent.fingerprint, socket: agent.path))
        for _ in 0..<3 {
            #expect(try await client.exchange(try await apple.signIn().code).refreshToken != nil)
        }
        #expect(agent.calls == 1)
    }

    static let failures: [(FakeSSHAgent.Mood, Bool)] = [
        (.isSilent, true), (.isLocked, true), (.closes, true), (.hasOtherKeys, false),
        (.refuses, false), (.isNoAgent, false), (.announcesTooMuch, false),
    ]

    @Test(arguments: failures)
    func `an SSH agent that fails says whether it may sign later`(
        _ mood: FakeSSHAgent.Mood, _ isTemporary: Bool
    ) async throws {
        let agent = try FakeSSHAgent(at: folder.path("agent.sock"), key, mood)
        let signer = SSHAgentSigner(
            fingerprint: agent.fingerprint, socket: agent.path,
            timeout: mood == .isSilent ? .milliseconds(200) : .seconds(60))
        let error = await #expect(throws: SignerError.self) {
            try await signer.signature(for: Array("message".utf8))
        }
        #expect(error?.isTemporary == isTemporary, "\(mood): \(error?.description ?? "")")
        // A signer that may sign later is asked again until the time is over.
        let failure = try await failure(
            of: try client(signer), timeout: isTemporary ? .milliseconds(500) : .seconds(60))
        #expect(failure.isRetryable == isTemporary)
    }
}
