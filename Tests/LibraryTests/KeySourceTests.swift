import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
import Testing

/// When Apple's public keys are fetched.
@Suite struct KeySourceTests {
    @Test func `concurrent tasks share one fetch`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy)
        let token = try await identityToken(apple)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await client.verify(token).userID } }
            let users = try await group.reduce(into: []) { $0.append($1) }
            #expect(users.count == 50 && Set(users).count == 1)
        }
        try await client.client(for: "com.example.web").verify(token)
        #expect(spy.requests == ["/auth/keys"])
    }

    @Test func `an unknown key is fetched, and an invented one only once`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy)
        let old = try await identityToken(apple)
        try await client.verify(old)
        try await apple.control("keys/rotate")
        let new = try await identityToken(apple)
        try await client.verify(new)
        #expect(spy.requests.count == 2)
        let parts = old.split(separator: ".").dropFirst()
        for (number, kid) in ["invented1", "invented2", "invented3"].enumerated() {
            let header = Data(#"{"alg":"RS256","kid":"\#(kid)"}"#.utf8).base64EncodedString()
                .replacing("=", with: "").replacing("/", with: "_").replacing("+", with: "-")
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await client.verify(([header] + parts.map(String.init)).joined(separator: "."))
            }
            // Only a set that was fetched since then shows that Apple does not have a key.
            guard number > 0 else {
                #expect(failure.failedChecks.first?.name == "key")
                continue
            }
            #expect(failure.kind == .keysUnavailable && failure.isRetryable)
            #expect(failure.retryAfter == .seconds(10))
        }
        #expect(try await client.verify(new).userID == client.verify(old).userID)
        #expect(spy.requests.count == 3)
    }

    @Test func `without keys, an exchange signs the user in and does not fetch again immediately`()
        async throws
    {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let spy = SpyTransport(apple.transport) { request in
            request.path == "/auth/keys" ? TransportResponse(status: 404) : nil
        }
        let client = try Fixture.makeClient(apple, spy)
        let signIn = try await client.exchange(try await apple.signIn(nonce: "n").code, nonce: "n")
        #expect(signIn.refreshToken != nil && !signIn.isSignatureChecked)
        let wrong = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange(codeOf(apple), nonce: "another")
        }
        #expect(wrong.kind == .invalidIdentityToken && wrong.failedChecks.map(\.name) == ["nonce"])
        // A token that did not come from Apple itself is not accepted.
        let failure = try await failureOfVerification(
            client, try #require(signIn.tokens.identityToken))
        #expect(failure.kind == .keysUnavailable && failure.isRetryable && failure.status == 404)
        #expect(failure.retryAfter == .seconds(10))
        #expect(spy.requests == ["/auth/token", "/auth/keys", "/auth/token"])
    }

    @Test func `over an unauthenticated transport, the keys are fetched before the code is sent`()
        async throws
    {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let isDown = Mutex(true)
        let spy = SpyTransport(apple.transport, authenticatesServer: false) { request in
            let isDown = isDown.withLock { $0 }
            return isDown && request.path == "/auth/keys" ? TransportResponse(status: 404) : nil
        }
        let client = try Fixture.makeClient(apple, spy)
        let code = try await apple.signIn().code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange(code)
        }
        #expect(failure.kind == .keysUnavailable && failure.isRetryable && !failure.codeMayBeSpent)
        #expect(spy.requests == ["/auth/keys"])
        isDown.withLock { $0 = false }
        apple.clock.advance(by: .seconds(11))
        let signIn = try await client.exchange(code)
        #expect(signIn.isSignatureChecked && signIn.refreshToken != nil)
        #expect(spy.requests == ["/auth/keys", "/auth/keys", "/auth/token"])
    }

    @Test func `over an unauthenticated transport, a token needs its key`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let spy = SpyTransport(apple.transport, authenticatesServer: false)
        let client = try Fixture.makeClient(apple, spy)
        try await client.exchange(try await apple.signIn().code)
        try await apple.control("keys/rotate")
        try await apple.control("faults", #"{"endpoint": "/auth/keys", "status": 404}"#)
        let code = try await apple.signIn().code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange(code)
        }
        // Not `invalidIdentityToken`: the user is not a forger.
        #expect(failure.kind == .keysUnavailable && failure.codeMayBeSpent)
        #expect(failure.tokens?.refreshToken != nil && !failure.isRetryable)
    }

    @Test func `a caller that is cancelled does not end the fetch of the others`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let gate = CancellationTests.Gate()
        let spy = SpyTransport(apple.transport) { request in
            if request.path == "/auth/keys" { await gate.pass() }
            return nil
        }
        let client = try Fixture.makeClient(apple, spy)
        let token = try await identityToken(apple)
        let impatient = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.verify(token, timeout: .milliseconds(1))
        }
        #expect(impatient.kind == .keysUnavailable && impatient.isRetryable)
        let cancelled = Task { try await failureOfVerification(client, token) }
        try await eventually("the fetch runs") { gate.isReached }
        cancelled.cancel()
        let failure = try await cancelled.value
        #expect(failure.kind == .cancelled && failure.isRetryable)
        let patient = Task { try await client.verify(token).userID }
        gate.open()
        #expect(try await !patient.value.isEmpty)
        #expect(spy.requests == ["/auth/keys"])
    }

    @Test func `keys are used for seven days after their fetch`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(
            apple, spy, maxAttempts: 1)
        let token = try await identityToken(apple)
        #expect(await client.keysAge == nil)
        try await client.verify(token)
        try await apple.control(
            "faults", #"{"endpoint": "/auth/keys", "status": 503, "count": 99}"#)
        apple.clock.advance(by: .seconds(7 * 86_400 - 60))
        let old = try await failureOfVerification(client, token)
        #expect(old.failedChecks.map(\.name) == ["expiry"], "the keys were used")
        #expect(try #require(await client.keysAge) >= .seconds(7 * 86_400 - 60))
        apple.clock.advance(by: .seconds(11))
        apple.clock.advance(by: .seconds(60))
        let older = try await failureOfVerification(client, token)
        #expect(older.kind == .keysUnavailable && older.status == 503)
    }

    private func codeOf(_ apple: InProcessApple) async throws(SignInWithAppleError) -> String {
        // The emulator knows its users.
        (try? await apple.signIn(nonce: "n").code) ?? ""
    }

    private func failureOfVerification(
        _ client: SignInWithAppleClient, _ token: String
    ) async throws -> SignInWithAppleError {
        try await thrownError { () async throws(SignInWithAppleError) in
            try await client.verify(token)
        }
    }

    private func identityToken(_ apple: InProcessApple) async throws -> String {
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
        return try #require(signIn.tokens.identityToken)
    }
}
