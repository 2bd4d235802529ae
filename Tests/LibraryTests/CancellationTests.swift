import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Synchronization
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
            while !state.withLock({ $0.isOpen }) {
                await Task.detached { try? await Task.sleep(for: .milliseconds(1)) }.value
            }
        }
    }

    @Test func `if the code may have been sent, a cancelled exchange returns the tokens`()
        async throws
    {
        let apple = try await InProcessApple()
        let gate = Gate()
        let sawCancellation = Mutex(false)
        let spy = SpyTransport(apple.transport) { request in
            if request.path == "/auth/token" { await gate.pass() }
            if Task.isCancelled { sawCancellation.withLock { $0 = true } }
            return nil
        }
        let client = try Fixture.makeClient(apple, spy)
        let code = try await apple.signIn().code
        let task = Task { try await client.exchange(code) }
        try await eventually("the code is sent") { gate.isReached }
        task.cancel()
        gate.open()
        let signIn = try await task.value
        #expect(signIn.refreshToken != nil && !sawCancellation.withLock { $0 })
        #expect(spy.requests == ["/auth/token", "/auth/keys"])
    }

    @Test func `a cancelled refresh or revocation can be repeated`() async throws {
        try await Fixture.serving { fixture in
            let token = try #require(
                try await fixture.client.exchange(fixture.apple.signIn().code).refreshToken)
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

    @Test func `an exchange that is cancelled before the code is sent sends nothing`() async throws
    {
        let apple = try await InProcessApple()
        let spy = SpyTransport(apple.transport)
        let client = try Fixture.makeClient(apple, spy)
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

    @Test func `a cancellation between attempts prevents further requests`() async throws {
        let apple = try await InProcessApple()
        let gate = Gate()
        let spy = SpyTransport(apple.transport) { _ in
            await gate.pass()
            throw TransportError("no connection", requestMayHaveLeft: false)
        }
        let client = try Fixture.makeClient(apple, spy)
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
