import Foundation
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
import TestSupport
import Testing

/// When Apple's public keys are fetched.
@Suite struct KeySourceTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `many tasks share one fetch`() async throws {
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy, now: { Self.now })
        let token = try await identityToken(apple)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await client.verify(token).userID } }
            let users = try await group.reduce(into: []) { $0.append($1) }
            #expect(users.count == 50 && Set(users).count == 1)
        }
        _ = try await client.client(for: "com.example.other", audiences: [client.clientID])
            .verify(token)
        #expect(spy.requests == ["/auth/keys"])
    }

    @Test func `a new key is fetched, an invented one once`() async throws {
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy, now: { Self.now })
        let old = try await identityToken(apple)
        try await client.verify(old)
        try await apple.control("keys/rotate")
        let new = try await identityToken(apple)
        try await client.verify(new)
        #expect(spy.requests.count == 2)
        let parts = old.split(separator: ".").dropFirst()
        for kid in ["invented1", "invented2", "invented3"] {
            let header = Data(#"{"alg":"RS256","kid":"\#(kid)"}"#.utf8).base64EncodedString()
                .replacing("=", with: "").replacing("/", with: "_").replacing("+", with: "-")
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await client.verify(([header] + parts.map(String.init)).joined(separator: "."))
            }
            #expect(failure.failedChecks.first?.name == "key")
        }
        #expect(spy.requests.count == 3)
    }

    @Test func `without keys an exchange throws its tokens`() async throws {
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport) { request in
            request.path == "/auth/keys" ? TransportResponse(status: 404) : nil
        }
        let client = try Fixture.makeClient(apple, spy, now: { Self.now })
        let code = try await apple.signIn()
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange(code)
        }
        #expect(failure.kind == .keysUnavailable && failure.codeMayBeSpent)
        let tokens = try #require(failure.tokens)
        #expect(tokens.refreshToken != nil && !failure.isRetryable)
        // The pause after a failed fetch: no request is sent, and the reason is the same.
        let token = try #require(tokens.identityToken)
        let second = try await failureOfVerification(client, token)
        #expect(second.kind == .keysUnavailable && second.isRetryable && second.status == 404)
        #expect(spy.requests == ["/auth/token", "/auth/keys"])
    }

    private func failureOfVerification(
        _ client: SignInWithAppleClient, _ token: String
    ) async throws -> SignInWithAppleError {
        try await thrownError { () async throws(SignInWithAppleError) in
            try await client.verify(token)
        }
    }

    private func identityToken(_ apple: InProcessApple) async throws -> String {
        let signIn = try await apple.client.exchange(try await apple.signIn())
        return try #require(signIn.tokens.identityToken)
    }
}
