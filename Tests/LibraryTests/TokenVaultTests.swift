import Foundation
import SignInWithApple
import SignInWithAppleEmulator
import SignInWithAppleVault
import TestSupport
import Testing

/// The vault as a server uses it.
@Suite struct LibraryVaultTests {
    @Test func `an account from sign-in to deletion`() async throws {
        let folder = try TemporaryFolder()
        let (url, keys) = ("sqlite:" + folder.path("vault.db"), try TokenVault.newKeys())
        let missing = await #expect(throws: TokenVaultError.self) {
            try await TokenVault(url: url, keys: keys)
        }
        #expect(missing?.kind == .notInitialized && missing?.isRetryable == false)
        try await TokenVault.create(url: url, keys: keys)
        let vault = try await TokenVault(url: url, keys: keys)

        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn())
        let stored = try await vault.store(signIn)
        #expect(stored.state == .active && stored.userID == signIn.userID)
        #expect(try await vault.refreshToken(of: stored) == signIn.refreshToken)
        var printed = "\(stored)"
        dump(stored, to: &printed)
        #expect(!printed.contains(try #require(signIn.refreshToken)))

        let results = try await vault.revoke(userID: signIn.userID, with: apple.client)
        #expect(results.map(\.evidence) == [.refreshAcceptedThenRejected])
        let tokens = try await vault.tokens(userID: signIn.userID, clientID: stored.clientID)
        #expect(tokens.map(\.state) == [.revoked])
        let again = try await vault.revoke(userID: signIn.userID, with: apple.client)
        #expect(again.map(\.status) == [nil] && again.allSatisfy(\.isDead))
        #expect(try await vault.revoke(userID: "nobody", with: apple.client).isEmpty)
        #expect(try await vault.remove(userID: signIn.userID, clientID: stored.clientID) == 1)
    }

    @Test func `an outage keeps the intent, and the next call finishes it`() async throws {
        let (vault, _) = try await makeVault()
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn())
        try await vault.store(signIn)
        let spy = SpyTransport(apple.transport) { _ in
            throw TransportError("no connection", requestMayHaveLeft: false, isTemporary: true)
        }
        let offline = try Fixture.makeClient(apple, spy, maxAttempts: 1)
        let failure = await #expect(throws: TokenVaultError.self) {
            try await vault.revoke(userID: signIn.userID, with: offline)
        }
        #expect(failure?.kind == .notRevoked && failure?.isRetryable == true)
        #expect(failure?.cause?.kind == .unreachable)
        let clientID = apple.client.clientID
        let states = try await vault.tokens(userID: signIn.userID, clientID: clientID)
        #expect(states.map(\.state) == [.revoking])
        try await vault.revoke(userID: signIn.userID, with: apple.client)
        let after = try await vault.tokens(userID: signIn.userID, clientID: clientID)
        #expect(after.map(\.state) == [.revoked])
    }

    /// The databases of this machine.
    enum Backend: String, CaseIterable, CustomTestStringConvertible {
        case sqlite, postgres

        static let available = allCases.filter { $0 == .sqlite || PostgresServer.isAvailable }
        var testDescription: String { rawValue }
    }

    @Test(arguments: Backend.available)
    func `a damaged record stops nothing but itself`(_ backend: Backend) async throws {
        let (vault, url, folder) = try await makeVault(backend)
        let apple = try await InProcessApple()
        var signIns: [SignIn] = []
        for _ in 0..<3 {
            signIns.append(try await apple.client.exchange(try await apple.signIn()))
            try await vault.store(signIns[signIns.count - 1])
        }
        let userID = signIns[0].userID
        let stored = try await vault.tokens(userID: userID, clientID: apple.client.clientID)
        let damaged = try #require(stored.first?.fingerprint)
        try change(
            url,
            "UPDATE vault_token SET state = 'nonsense' WHERE token_fingerprint = '\(damaged)'")
        let failure = await #expect(throws: TokenVaultError.self) {
            try await vault.revoke(userID: userID, with: apple.client)
        }
        #expect(failure?.kind == .recordDamaged && failure?.isRetryable == false)
        #expect(failure?.description.contains(damaged) == true)
        var works = 0
        for signIn in signIns {
            let token = try #require(signIn.refreshToken)
            do throws(SignInWithAppleError) {
                try await apple.client.refresh(token)
                works += 1
            } catch {
                #expect(error.kind == .grantRefused)
            }
        }
        #expect(works == 1, "the one that cannot be read")
        _ = folder
    }

    @Test(arguments: Backend.available)
    func `tokens of a client that was not given are never left in silence`(
        _ backend: Backend
    ) async throws {
        let (vault, _, folder) = try await makeVault(backend)
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn())
        let token = try #require(signIn.refreshToken)
        try await vault.store(signIn)
        let web = try apple.client.client(for: "com.example.web")
        let failure = await #expect(throws: TokenVaultError.self) {
            try await vault.revoke(userID: signIn.userID, with: web)
        }
        #expect(failure?.kind == .otherClients)
        #expect(failure?.description.contains(apple.client.clientID) == true)
        try await apple.client.refresh(token)
        // With all clients, nothing remains to be said.
        let results = try await vault.revoke(
            userID: signIn.userID, with: [web, apple.client])
        #expect(results.map(\.evidence) == [.refreshAcceptedThenRejected])
        #expect(try await vault.revoke(userID: signIn.userID, with: web).isEmpty)
        _ = folder
    }

    @Test func `a cancelled deletion may be repeated`() async throws {
        let (vault, _, folder) = try await makeVault(.sqlite)
        try await Fixture.serving { fixture in
            let signIn = try await fixture.client.exchange(try await fixture.apple.signIn())
            try await vault.store(signIn)
            try await fixture.apple.control(
                "faults", #"{"endpoint": "/auth/revoke", "delay": "1h"}"#)
            let task = Task {
                await #expect(throws: TokenVaultError.self) {
                    try await vault.revoke(
                        userID: signIn.userID, with: fixture.client, proof: .none)
                }
            }
            try await eventually("the revocation is sent") {
                try await fixture.requests(to: "/auth/revoke") > 0
            }
            task.cancel()
            let failure = await task.value
            #expect(failure?.kind == .notRevoked && failure?.isRetryable == true)
            #expect(failure?.cause?.kind == .cancelled)
            let results = try await vault.revoke(userID: signIn.userID, with: fixture.client)
            #expect(results.map(\.isDead) == [true])
        }
        _ = folder
    }

    @Test func `a locked vault costs no refresh token`() async throws {
        let (vault, _, folder) = try await makeVault(.sqlite, timeout: .milliseconds(100))
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn())
        let lock = try DatabaseWriteLock("sqlite:" + folder.path("vault.db"))
        let failure = await #expect(throws: TokenVaultError.self) { try await vault.store(signIn) }
        #expect(failure?.kind == .busy && failure?.isRetryable == true)
        try lock.release()
        #expect(try await vault.store(signIn).state == .active)
    }

    @Test func `a notification ends a user's tokens`() async throws {
        let (vault, _) = try await makeVault()
        try await Fixture.serving { fixture in
            let signIn = try await fixture.client.exchange(try await fixture.apple.signIn())
            try await vault.store(signIn)
            try await vault.store("r1.0.x.y", userID: signIn.userID, clientID: "com.example.web")
            // Within the second of the sign-in, the event would be about an earlier one.
            try await fixture.apple.control("clock", #"{"offset": "5s"}"#)
            let event = try await fixture.client.notification(
                try await fixture.notification("account-delete"))
            #expect(event.kind == .accountDeleted)
            let tokens = try await vault.apply(event, clientIDs: ["com.example.web"])
            #expect(tokens.map(\.state) == [.accountDeleted, .accountDeleted])
        }
    }

    @Test(arguments: [75, 3600, -90_000])
    func `a wrong clock of this machine refuses no sign-in`(_ offset: Int) async throws {
        let apple = try await InProcessApple()
        try await apple.control("switches", #"{"secret_clock": "real"}"#)
        try await apple.control("clock", #"{"offset": \#(offset)}"#)
        let signIn = try await apple.client.exchange(try await apple.signIn(nonce: "n"), nonce: "n")
        #expect(signIn.refreshToken != nil && !signIn.userID.isEmpty)
    }

    @Test func `an event after the sign-in ends its token, however fast this machine's clock is`()
        async throws
    {
        let (vault, _) = try await makeVault()
        let apple = try await InProcessApple(now: { Date() })
        try await apple.control("switches", #"{"secret_clock": "real"}"#)
        try await apple.control("clock", #"{"offset": -3600}"#)
        let signIn = try await apple.client.exchange(try await apple.signIn())
        try await vault.store(signIn)
        try await apple.control("clock", #"{"offset": -3590}"#)
        let answer = try await apple.control(
            "notifications", #"{"type": "consent-revoked", "user": "alice"}"#)
        let event = try await apple.client.notification(answer)
        let tokens = try await vault.apply(event)
        #expect(tokens.map(\.state) == [.consentRevoked])
    }

    @Test func `another key, and what cannot be a user`() async throws {
        let folder = try TemporaryFolder()
        let url = "sqlite:" + folder.path("vault.db")
        try await TokenVault.create(url: url, keys: try TokenVault.newKeys())
        for (keys, kind) in [
            (try TokenVault.newKeys(), TokenVaultError.Kind.key), ("", .key), ("1 zzzz", .key),
        ] {
            let failure = await #expect(throws: TokenVaultError.self) {
                try await TokenVault(url: url, keys: keys)
            }
            let digits = keys.split(separator: " ").last.map(String.init) ?? "none"
            #expect(failure?.kind == kind && failure?.description.contains(digits) == false)
        }
        let (vault, _) = try await makeVault()
        for user in ["", "a\0b", String(repeating: "a", count: 256)] {
            let failure = await #expect(throws: TokenVaultError.self) {
                try await vault.tokens(userID: user, clientID: "com.example.app")
            }
            #expect(failure?.kind == .invalidArgument)
        }
    }

    private func makeVault() async throws -> (TokenVault, TemporaryFolder) {
        let (vault, _, folder) = try await makeVault(.sqlite)
        return (vault, folder)
    }

    private func makeVault(
        _ backend: Backend, timeout: Duration = .seconds(10)
    ) async throws -> (TokenVault, url: String, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let url =
            switch backend {
            case .sqlite: "sqlite:" + folder.path("vault.db")
            case .postgres: try await PostgresServer.shared().database()
            }
        let keys = try TokenVault.newKeys()
        try await TokenVault.create(url: url, keys: keys)
        return (try await TokenVault(url: url, keys: keys, timeout: timeout), url, folder)
    }
}
