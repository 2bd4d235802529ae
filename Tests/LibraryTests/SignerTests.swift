import Foundation
import SIWACrypto
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
import Testing

/// Client secrets that a signer signs.
@Suite struct SignerTests {
    @Test(arguments: [false, true])
    func `a signer's client secret is accepted, and one is enough`(isDER: Bool) async throws {
        let setup = try await Setup { key, message in
            let signature = try key.signature(for: message.span)
            return isDER ? Self.der(signature.rawRepresentation) : signature.rawRepresentation
        }
        for _ in 0..<3 {
            let code = try await setup.apple.signIn().code
            #expect(try await setup.client.exchange(code).refreshToken != nil)
        }
        #expect(setup.signer.calls == 1)
        let secret = try await setup.client.clientSecret(lifetime: .seconds(60))
        #expect(secret.text.split(separator: ".").count == 3 && setup.signer.calls == 2)
    }

    @Test func `a client secret is renewed before half of its life is over`() async throws {
        let setup = try await Setup { key, message in
            try key.signature(for: message.span).rawRepresentation
        }
        try await setup.client.exchange(try await setup.apple.signIn().code)
        setup.apple.clock.advance(by: .seconds(1700))
        try await setup.client.exchange(try await setup.apple.signIn().code)
        #expect(setup.signer.calls == 1)
        setup.apple.clock.advance(by: .seconds(200))
        try await setup.client.exchange(try await setup.apple.signIn().code)
        try await eventually("the secret was renewed") { setup.signer.calls == 2 }
        setup.apple.clock.advance(by: .seconds(1750))
        try await setup.client.exchange(try await setup.apple.signIn().code)
        #expect(setup.signer.calls == 2, "the first secret has expired, the second serves")
    }

    @Test func `a signer that never answers costs its caller the timeout, and no code`()
        async throws
    {
        let setup = try await Setup { _, _ in
            // Not ended by a cancellation.
            try await Task.detached { try await Task.sleep(for: .seconds(3600)) }.value
            return []
        }
        let code = try await setup.apple.signIn().code
        for _ in 0..<2 {
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await setup.client.exchange(code, timeout: .milliseconds(50))
            }
            #expect(failure.kind == .signerFailed && failure.isRetryable)
            #expect(!failure.codeMayBeSpent)
        }
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await setup.client.clientSecret(timeout: .milliseconds(50))
        }
        #expect(failure.kind == .signerFailed && failure.isRetryable)
        #expect(try await setup.apple.requestedPaths().isEmpty)
        #expect(setup.signer.calls == 2, "the second exchange waited for the first one's signature")
        setup.client.replaceKey(try setup.apple.key)
        #expect(try await setup.client.exchange(code).refreshToken != nil)
    }

    @Test(arguments: [
        (Fault.temporary, true, "the signer failed: locked"),
        (.permanent, false, "the signer failed: no permission"),
        (.unknown, false, "the signer failed with NothingThrown"),
        (.otherKey, false, "the signer's signature is not one of the pinned public key"),
        (.empty, false, "the signer's signature is not one of the pinned public key"),
    ])
    func `a signer's failure says whether it may sign later`(
        _ fault: Fault, _ isRetryable: Bool, _ message: String
    ) async throws {
        let setup = try await Setup { _, message in
            switch fault {
            case .temporary: throw SignerError("locked", isTemporary: true)
            case .permanent: throw SignerError("no permission", isTemporary: false)
            case .unknown: throw NothingThrown()
            case .otherKey:
                return try P256PrivateKey.generate().signature(for: message.span).rawRepresentation
            case .empty: return []
            }
        }
        let code = try await setup.apple.signIn().code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await setup.client.exchange(code, timeout: .seconds(60))
        }
        #expect(failure.kind == .signerFailed && failure.isRetryable == isRetryable)
        #expect(failure.message == message && !failure.codeMayBeSpent)
        #expect(try await setup.apple.requestedPaths().isEmpty)
    }

    @Test func `concurrent calls share one signature`() async throws {
        let setup = try await Setup { key, message in
            try await Task.sleep(for: .milliseconds(50))
            return try key.signature(for: message.span).rawRepresentation
        }
        var codes: [String] = []
        for _ in 0..<20 { codes.append(try await setup.apple.signIn().code) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for code in codes {
                group.addTask { try await setup.client.exchange(code) }
            }
            try await group.waitForAll()
        }
        #expect(setup.signer.calls == 1)
    }

    @Test(arguments: [
        ("", "has no line '-----BEGIN PUBLIC KEY-----'"),
        ("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----", "is a private key"),
        (
            "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----",
            "is not a key on the curve P-256"
        ),
        (
            "-----BEGIN PUBLIC KEY-----\n*\n-----END PUBLIC KEY-----",
            "is damaged: what is between its BEGIN and END lines is not base64"
        ),
    ])
    func `a text that is no public key is refused`(_ text: String, _ fault: String) async throws {
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try ClientSecretKey(id: "K1L2M3N4P5", publicKey: text, signer: SpySigner { _ in [] })
        }
        #expect(failure.kind == .invalidConfiguration)
        #expect(failure.message == "the public key \(fault)")
    }

    enum Fault: Sendable { case temporary, permanent, unknown, otherKey, empty }

    /// r and s as DER integers (X.690 §8.3), which OpenSSL and KMS services return.
    private static func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var bytes = Array(bytes.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }
        let body = integer(raw.prefix(32)) + integer(raw.suffix(32))
        return [0x30, UInt8(body.count)] + body
    }
}

/// An emulator whose team's key is behind a signer.
private struct Setup {
    let apple: InProcessApple
    let signer: SpySigner
    let client: SignInWithAppleClient

    init(
        _ sign: @escaping @Sendable (P256PrivateKey, [UInt8]) async throws -> [UInt8]
    ) async throws {
        apple = try await InProcessApple()
        let der = Data(
            base64Encoded: apple.privateKey.split(separator: "\n").dropFirst().dropLast().joined())
        let key = try P256PrivateKey(derRepresentation: SecretBytes(try #require(der)))
        signer = SpySigner { try await sign(key, $0) }
        client = try SignInWithAppleClient(
            teamID: apple.teamID, clientID: apple.client.clientID,
            key: ClientSecretKey(
                id: apple.keyID, publicKey: key.publicKey.pemRepresentation(), signer: signer),
            transport: apple.transport, now: apple.clock.now)
    }
}

/// A signer that counts its calls.
private final class SpySigner: ClientSecretSigner {
    private let sign: @Sendable ([UInt8]) async throws -> [UInt8]
    private let count = Mutex(0)

    init(_ sign: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) { self.sign = sign }

    var calls: Int { count.withLock { $0 } }

    func signature(for message: [UInt8]) async throws -> [UInt8] {
        count.withLock { $0 += 1 }
        return try await sign(message)
    }
}
