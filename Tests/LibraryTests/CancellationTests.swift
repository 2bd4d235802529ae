import Foundation
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
import TestSupport
import Testing

/// When a task that exchanges a code is cancelled.
@Suite struct CancellationTests {
    /// A gate that a test opens.
    final class Gate: Sendable {
        private let state = Mutex<(isOpen: Bool, isReached: Bool)>((false, false))

        var isReached: Bool { state.withLock { $0.isReached } }
        func open() { state.withLock { $0.isOpen = true } }

        /// Waits without reacting to cancellation.
        func pass() async {
            state.withLock { $0.isReached = true }
            while !state.withLock({ $0.isOpen }) { await Task.yield() }
        }
    }

    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `once the code may have left, the tokens are returned`() async throws {
        let apple = try await InProcessApple()
        let gate = Gate()
        let sawCancellation = Mutex(false)
        let spy = SpyTransport(apple.transport) { request in
            if request.path == "/auth/token" { await gate.pass() }
            if Task.isCancelled { sawCancellation.withLock { $0 = true } }
            return nil
        }
        let client = try Fixture.makeClient(apple, spy, now: { Self.now })
        let code = try await apple.signIn()
        let task = Task { try await client.exchange(code) }
        try await eventually("the code is sent") { gate.isReached }
        task.cancel()
        gate.open()
        let signIn = try await task.value
        #expect(signIn.refreshToken != nil && !sawCancellation.withLock { $0 })
        #expect(spy.requests == ["/auth/token", "/auth/keys"])
    }

    @Test func `a cancelled refresh or revocation may be repeated`() async throws {
        try await Fixture.serving { fixture in
            let token = try #require(
                try await fixture.client.exchange(fixture.apple.signIn()).refreshToken)
            for path in ["/auth/token", "/auth/revoke"] {
                try await fixture.apple.control(
                    "faults", #"{"endpoint": "\#(path)", "delay": "1h"}"#)
                let count = try await fixture.requests(to: path)
                let task = Task {
                    try await thrownError { () async throws(SignInWithAppleError) in
                        if path == "/auth/token" {
                            try await fixture.client.refresh(token)
                        } else {
                            try await fixture.client.revoke(token, proof: .none)
                        }
                    }
                }
                try await eventually("\(path) is asked for") {
                    try await fixture.requests(to: path) > count
                }
                task.cancel()
                let failure = try await task.value
                #expect(failure.kind == .cancelled && failure.isRetryable, "\(failure)")
                #expect(!failure.codeMayBeSpent)
            }
            let proof = try await fixture.client.revoke(token)
            #expect(proof.isDead)
        }
    }

    @Test func `before the code is sent, nothing leaves`() async throws {
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy, now: { Self.now })
        let gate = Gate()
        let task = Task {
            await gate.pass()
            return try await thrownError { () async throws(SignInWithAppleError) in
                try await client.exchange("c0.0.code")
            }
        }
        task.cancel()
        gate.open()
        let failure = try await task.value
        #expect(failure.kind == .cancelled && !failure.codeMayBeSpent)
        #expect(spy.requests.isEmpty)
    }

    @Test func `between attempts, nothing more leaves`() async throws {
        let apple = try await InProcessApple()
        let gate = Gate()
        let spy = SpyTransport(apple.transport) { _ in
            await gate.pass()
            throw TransportError("no connection", requestMayHaveLeft: false)
        }
        let client = try Fixture.makeClient(apple, spy, now: { Self.now })
        let task = Task {
            try await thrownError { () async throws(SignInWithAppleError) in
                try await client.exchange("c0.0.code")
            }
        }
        try await eventually("the first attempt") { gate.isReached }
        task.cancel()
        gate.open()
        let failure = try await task.value
        #expect(failure.kind == .cancelled && !failure.codeMayBeSpent)
        #expect(spy.requests.count == 1)
    }
}
