import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
import Testing

/// Several clients in one process, events, transfers, and what a transport cannot delay.
@Suite struct ClientTests {
    @Test func `a client without a key is refused`() async throws {
        let apple = try await InProcessApple()
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try apple.client.client(for: "com.example.other")
        }
        #expect(failure.kind == .unknownClient)
        #expect(apple.client.clientIDs == ["com.example.app", "com.example.web"])
    }

    @Test func `clients share one fetch of Apple's keys`() async throws {
        let apple = try await InProcessApple()
        try await apple.client.prefetchKeys()
        let web = try apple.client.client(for: "com.example.web")
        for client in [apple.client, web] {
            let code = try await apple.signIn(to: client.clientID).code
            let redirectURI = client.clientID == web.clientID ? "https://example.com/apple" : nil
            let signIn = try await client.exchange(code, redirectURI: redirectURI)
            #expect(signIn.claims.clientID == client.clientID)
            let body = try await apple.notify(.emailDisabled, to: client.clientID)
            #expect(try await apple.client.notification(body).clientID == client.clientID)
        }
        #expect(try await apple.requestedPaths().count { $0 == "/auth/keys" } == 1)
    }

    @Test func `a code of another client is not exchanged`() async throws {
        let apple = try await InProcessApple()
        let code = try await apple.signIn(to: "com.example.web").code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await apple.client.exchange(code)
        }
        #expect(failure.kind == .grantRefused || failure.kind == .clientRefused)
    }

    @Test func `a key that is replaced signs in all copies`() async throws {
        let apple = try await InProcessApple(keyIDs: ["K1L2M3N4P5", "Q6R7S8T9U0"])
        let copy = apple.client
        let other = try ClientSecretKey(
            pem: try #require(apple.privateKeys["Q6R7S8T9U0"]), id: "Q6R7S8T9U0")
        apple.client.replaceKey(other)
        let secret = try await copy.clientSecret()
        let header = secret.text.prefix { $0 != "." }
        #expect(
            header.hasPrefix(
                Data(#"{"alg":"ES256","kid":"Q6R7S8T9U0"}"#.utf8)
                    .base64EncodedString().prefix(40)))
        #expect(try await copy.exchange(try await apple.signIn().code).refreshToken != nil)
    }

    @Test(arguments: [false, true])
    func `a transport that ignores its time limit and cancellation delays nobody`(
        isCancelled: Bool
    ) async throws {
        let apple = try await InProcessApple()
        let hanging = SpyTransport(apple.transport) { _ in
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }
        let client = try Fixture.makeClient(apple, hanging, maxAttempts: 1)
        let timeout: Duration = isCancelled ? .seconds(3600) : .milliseconds(50)
        let call = Task {
            try await thrownError { () async throws(SignInWithAppleError) in
                try await client.refresh("r.token", timeout: timeout)
            }
        }
        if isCancelled {
            try await eventually("the request was sent") { !hanging.requests.isEmpty }
            call.cancel()
        }
        let failure = try await call.value
        #expect(failure.kind == (isCancelled ? .cancelled : .unreachable))
        #expect(failure.isRetryable && !failure.codeMayBeSpent)
    }

    @Test func `an exchange over a transport that hangs says that the code may be spent`()
        async throws
    {
        let apple = try await InProcessApple()
        let hanging = SpyTransport(apple.transport) { _ in
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }
        let events = Mutex<[SignInWithAppleEvent]>([])
        let client = try Fixture.makeClient(
            apple, hanging, observer: { event in events.withLock { $0.append(event) } })
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange("c0ffee", timeout: .milliseconds(50))
        }
        #expect(failure.kind == .unreachable && failure.codeMayBeSpent && !failure.isRetryable)
        #expect(events.withLock { $0.map(\.kind) }.contains(.codeOutcomeUnknown))
    }

    @Test func `the observer learns of requests, retries, keys and secrets, and of no secret`()
        async throws
    {
        let apple = try await InProcessApple()
        let events = Mutex<[SignInWithAppleEvent]>([])
        let client = try Fixture.makeClient(
            apple, apple.transport, observer: { event in events.withLock { $0.append(event) } })
        let signIn = try await client.exchange(try await apple.signIn().code)
        let token = try #require(signIn.refreshToken)
        try await apple.inject(EmulatedFault(endpoint: "/auth/token", status: 503))
        try await client.refresh(token)
        let seen = events.withLock { $0 }
        let requests = seen.filter { $0.kind == .requestEnded }
        #expect(requests.map(\.endpoint).contains("/auth/keys"))
        let attempts = requests.filter { $0.endpoint == "/auth/token" }
        #expect(attempts.map(\.status) == [200, 503, 200])
        #expect(attempts.map(\.attempt) == [1, 1, 2])
        #expect(attempts.allSatisfy { $0.duration != nil })
        let retry = try #require(seen.first { $0.kind == .retryScheduled })
        #expect(retry.endpoint == "/auth/token" && retry.duration != nil)
        #expect(seen.count { $0.kind == .clientSecretSigned } == 1)
        #expect(seen.count { $0.kind == .keysFetched } == 1)
        for text in [token, signIn.accessToken, signIn.userID] {
            #expect(!"\(seen)".contains(text))
        }
    }

    @Test func `values of tests equal those of Apple's answers`() async throws {
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(
            try await apple.signIn(nonce: "n").code, nonce: "n")
        let data = try JSONEncoder().encode(signIn.claims)
        #expect(try JSONDecoder().decode(IdentityClaims.self, from: data) == signIn.claims)
        struct Own: Decodable { let sub: String, nonce_supported: Bool }
        let own = try signIn.claims.decode(Own.self)
        #expect(own.sub == signIn.userID && own.nonce_supported)
        #expect(signIn.claims.isNonceSupported == true)
        #expect(signIn.claims.realUserStatus.map { $0 == .likelyReal } ?? true)
        #expect(throws: DecodingError.self) { try signIn.claims.decode([Int].self) }
        let copy = SignIn(
            tokens: signIn.tokens, claims: signIn.claims,
            isSignatureChecked: signIn.isSignatureChecked)
        #expect(copy == signIn)
        let event = try await apple.client.notification(try await apple.notify(.consentRevoked))
        let eventData = try JSONEncoder().encode(event)
        #expect(try JSONDecoder().decode(AccountEvent.self, from: eventData) == event)
    }

    @Test func `no day makes a frozen clock a time bomb`() async throws {
        for start in [0.0, 1_800_000_000, 4_000_000_000] {
            let clock = InProcessClock(startingAt: Date(timeIntervalSince1970: start + 86_400))
            let apple = try await InProcessApple(clock: clock)
            let signIn = try await apple.client.exchange(try await apple.signIn().code)
            #expect(signIn.claims.issuedAt == clock.now())
            try await apple.client.revoke(try #require(signIn.refreshToken))
        }
    }
}
