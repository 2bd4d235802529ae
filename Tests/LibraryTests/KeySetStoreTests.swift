import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
import Testing

/// Apple's public keys that replicas share, and key sets of one's own.
@Suite struct KeySetStoreTests {
    @Test func `one replica fetches Apple's keys for all`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let store = MemoryStore()
        let token = try await apple.signIn().identityToken
        for number in 0..<3 {
            let replica = try Replica(apple, store)
            try await replica.client.verify(token)
            #expect(replica.spy.requests == (number == 0 ? ["/auth/keys"] : []))
            try await eventually("the keys are saved") { store.text != nil }
            #expect(await replica.client.keysAge == .zero)
        }
    }

    @Test func `a key that the shared set lacks is fetched, and shared`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let store = MemoryStore()
        let (one, two) = (try Replica(apple, store), try Replica(apple, store))
        try await one.client.prefetchKeys()
        try await two.client.prefetchKeys()
        try await apple.rotateKeys()
        let token = try await apple.signIn().identityToken
        apple.clock.advance(by: .seconds(1))
        let old = store.text
        try await one.client.verify(token)
        try await eventually("the new keys are saved") { store.text != old }
        try await two.client.verify(token)
        #expect(one.spy.requests.count + two.spy.requests.count == 2)
    }

    @Test func `shared keys older than seven days are not used`() async throws {
        let apple = try await InProcessApple(clock: InProcessClock(startingAt: Date()))
        let store = MemoryStore()
        try await Replica(apple, store).client.prefetchKeys()
        try await eventually("the keys are saved") { store.text != nil }
        apple.clock.advance(by: .seconds(7 * 86_400 + 1))
        try await apple.inject(EmulatedFault(endpoint: "/auth/keys", status: 404, count: 9))
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await Replica.failing(apple, store).prefetchKeys()
        }
        #expect(failure.kind == .keysUnavailable)
    }

    @Test(arguments: MemoryStore.Fault.allCases)
    func `a store that fails costs no sign-in`(_ fault: MemoryStore.Fault) async throws {
        let apple = try await InProcessApple()
        let store = MemoryStore(fault)
        let events = Mutex<[SignInWithAppleEvent.Kind]>([])
        let replica = try Replica(apple, store) { event in
            events.withLock { $0.append(event.kind) }
        }
        let signIn = try await replica.client.exchange(try await apple.signIn().code)
        #expect(signIn.isSignatureChecked && replica.spy.requests.contains("/auth/keys"))
        let isReported = fault == .throwing || fault == .hanging
        #expect(events.withLock { $0 }.contains(.keySetStoreFailed) == isReported)
    }

    @Test func `a shared set of another origin is not used`() async throws {
        let apple = try await InProcessApple()
        let store = MemoryStore()
        let elsewhere = try Replica(apple, store, baseURL: "https://apple.example")
        try await elsewhere.client.prefetchKeys()
        try await eventually("the keys are saved") { store.text != nil }
        let replica = try Replica(apple, store)
        try await replica.client.prefetchKeys()
        #expect(replica.spy.requests == ["/auth/keys"])
    }

    @Test func `a key set of one's own verifies tokens without a network`() async throws {
        let apple = try await InProcessApple()
        let answer = try await apple.transport.send(
            TransportRequest(url: "https://appleid.apple.com/auth/keys"))
        let keySet = String(decoding: answer.body, as: UTF8.self)
        let spy = SpyTransport(apple.transport)
        let client = try SignInWithAppleClient(
            teamID: apple.teamID, clientID: apple.client.clientID, key: apple.key, transport: spy,
            appleKeys: .given(keySet), now: apple.clock.now)
        try await client.verify(try await apple.signIn().identityToken)
        _ = try await client.notification(try await apple.notify(.emailEnabled))
        try await client.prefetchKeys()
        #expect(spy.requests.isEmpty)
        #expect(await client.keysAge == nil)
        let signIn = try await client.exchange(try await apple.signIn().code)
        #expect(signIn.isSignatureChecked && spy.requests == ["/auth/token"])

        // No other key is valid, although the transport authenticates the server.
        try await apple.rotateKeys()
        let code = try await apple.signIn().code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await client.exchange(code)
        }
        #expect(
            failure.kind == .invalidIdentityToken && failure.failedChecks.map(\.name) == ["key"])
        #expect(failure.tokens?.refreshToken != nil)
    }

    @Test(arguments: ["", "{}", #"{"keys": []}"#, #"{"keys": [{"kty": "EC", "kid": "A"}]}"#])
    func `a text without a key for RS256 is refused`(_ text: String) async throws {
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try AppleKeys.given(text)
        }
        #expect(failure.kind == .invalidConfiguration && !failure.isRetryable)
    }
}

/// A process of a service with several.
private struct Replica {
    let spy: SpyTransport
    let client: SignInWithAppleClient

    init(
        _ apple: InProcessApple, _ store: MemoryStore,
        baseURL: String = "https://appleid.apple.com",
        observer: (@Sendable (SignInWithAppleEvent) -> Void)? = nil
    ) throws {
        spy = SpyTransport(apple.transport)
        client = try SignInWithAppleClient(
            teamID: apple.teamID, clientID: apple.client.clientID, key: apple.key, transport: spy,
            baseURL: baseURL, appleKeys: .fetched(sharing: store), observer: observer,
            now: apple.clock.now)
    }

    static func failing(
        _ apple: InProcessApple, _ store: MemoryStore
    ) throws(SignInWithAppleError) -> SignInWithAppleClient {
        try SignInWithAppleClient(
            teamID: apple.teamID, clientID: apple.client.clientID, key: apple.key,
            transport: apple.transport, appleKeys: .fetched(sharing: store), now: apple.clock.now)
    }
}

final class MemoryStore: KeySetStore {
    enum Fault: CaseIterable { case throwing, hanging, foreign }

    private let saved = Mutex<String?>(nil)
    private let fault: Fault?

    init(_ fault: Fault? = nil) { self.fault = fault }

    var text: String? { saved.withLock { $0 } }

    func load() async throws -> String? {
        switch fault {
        case .throwing: throw NothingThrown()
        case .hanging: await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        case .foreign: return #"{"keys": [{"kty": "RSA"}]}"#
        case nil: break
        }
        return text
    }

    func save(_ keySet: String) async throws {
        if fault == .throwing { throw NothingThrown() }
        saved.withLock { $0 = keySet }
    }
}
