import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleEmulator
import Synchronization
import Testing

/// The library with faulty networks and servers.
@Suite struct HostileAnswerTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        let kind: SignInWithAppleError.Kind
        let codeMayBeSpent: Bool
    }

    static let answers = [
        Answer(
            testDescription: "the connection ends", steps: [.readRequest, .close],
            kind: .unreachable, codeMayBeSpent: true),
        Answer(
            testDescription: "a page of a captive portal",
            steps: [.readRequest, .answer(200, "<html>", type: "text/html")],
            kind: .unexpectedResponse, codeMayBeSpent: true),
        Answer(
            testDescription: "half of the JSON",
            steps: [.readRequest, .answer(200, #"{"access_token": "a"#)],
            kind: .unexpectedResponse, codeMayBeSpent: true),
        Answer(
            testDescription: "a limit",
            steps: [.readRequest, .answer(429, "", fields: ["Retry-After: 17"])],
            kind: .rateLimited, codeMayBeSpent: false),
        Answer(
            testDescription: "no identity token",
            steps: [.readRequest, .answer(200, #"{"access_token": "a", "refresh_token": "r"}"#)],
            kind: .invalidIdentityToken, codeMayBeSpent: true),
        Answer(
            testDescription: "an unknown error",
            steps: [.readRequest, .answer(400, #"{"error": "new_error"}"#)],
            kind: .requestRefused, codeMayBeSpent: false),
    ]

    @Test(arguments: answers)
    func `an exchange ends with the expected error after a hostile response`(_ answer: Answer)
        async throws
    {
        let apple = try await InProcessApple()
        try await RawServer.serving(answer.steps) { server in
            let client = try Fixture.makeClient(apple, try CurlTransport(), baseURL: server.url)
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await client.exchange("c0.0.code")
            }
            #expect(failure.kind == answer.kind, "\(failure)")
            #expect(failure.codeMayBeSpent == answer.codeMayBeSpent)
            #expect(!failure.codeMayBeSpent || !failure.isRetryable)
            #expect(failure.retryAfter == (answer.kind == .rateLimited ? .seconds(17) : nil))
            #expect(server.requests.count == 1)
            #expect(!"\(failure)".contains("c0.0.code"))
        }
    }

    @Test func `after a transport's own error, the code counts as possibly spent`() async throws {
        struct Talkative: Error { let body = "client_secret=eyJ" }
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport) { _ in throw Talkative() }
        let client = try Fixture.makeClient(apple, spy)
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange("c0.0.code")
        }
        #expect(failure.kind == .unreachable && failure.codeMayBeSpent && !failure.isRetryable)
        #expect(!"\(failure)".contains("eyJ") && spy.requests.count == 1)
    }

    @Test func `a code that was certainly never sent is sent again`() async throws {
        let apple = try await InProcessApple()
        let attempts = Mutex(0)
        let spy = SpyTransport(apple.transport) { request in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard attempt == 1 else { return nil }
            throw TransportError("no connection", requestMayHaveLeft: false)
        }
        let client = try Fixture.makeClient(apple, spy)
        let signIn = try await client.exchange(try await apple.signIn().code)
        #expect(signIn.refreshToken != nil)
        #expect(spy.requests == ["/auth/token", "/auth/token", "/auth/keys"])
    }

    @Test func `an invalid code is not sent`() async throws {
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy)
        for text in ["", "c0 0", "c0\n", "\"c0\"", "eyJhbGciOiJub25lIn0.e30.", "c\u{E9}"] {
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await client.exchange(text)
            }
            #expect(failure.kind == .invalidArgument && !failure.codeMayBeSpent)
        }
        #expect(spy.requests.isEmpty)
    }

    @Test func `invalid settings are named in the error`() async throws {
        let apple = try await InProcessApple()
        func make(
            team: String = "A1B2C3D4E5", client: String = "com.example.app",
            keyID: String = "K1L2M3N4P5", key: String? = nil, url: String = "https://localhost"
        ) throws -> SignInWithAppleClient {
            try SignInWithAppleClient(
                teamID: team, clientID: client,
                key: ClientSecretKey(pem: key ?? apple.privateKey, id: keyID),
                transport: apple.transport, baseURL: url)
        }
        func message(_ make: () throws -> SignInWithAppleClient) -> String {
            do { _ = try make() } catch { return "\(error)" }
            return ""
        }
        #expect(message { try make() } == "")
        #expect(message { try make(key: apple.privateKey.replacing("\n", with: "\\n")) } == "")
        #expect(message { try make(team: "A1") } == "the Team ID must be ten letters and digits")
        #expect(message { try make(keyID: "") } == "the Key ID must be ten letters and digits")
        #expect(message { try make(client: "a b") }.hasPrefix("the client id must be"))
        #expect(message { try make(key: "-----BEGIN") }.hasPrefix("the private key is"))
        #expect(message { try make(url: "http://example.com") }.hasPrefix("the base URL must be"))
        let lifetimes: [Duration] = [.zero, .seconds(-1), .seconds(15_777_001), .seconds(Int.max)]
        for lifetime in lifetimes {
            await #expect(throws: SignInWithAppleError.self) {
                try await make().clientSecret(lifetime: lifetime)
            }
        }
    }

    @Test func `no description contains a secret`() async throws {
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
        let secret = try await apple.client.clientSecret()
        let tokens = [
            signIn.refreshToken, signIn.accessToken, signIn.tokens.identityToken, secret.text,
        ]
        var printed = "\(signIn.tokens) \(secret)"
        dump(signIn, to: &printed)
        dump(secret, to: &printed)
        dump(signIn.tokens, to: &printed)
        for token in tokens { #expect(!printed.contains(try #require(token))) }
    }
}
