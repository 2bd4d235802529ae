import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import SignInWithAppleVault
import Testing

/// The vault as a server uses it.
@Suite struct LibraryVaultTests {
    @Test func `an account is stored at sign-in and removed at deletion`() async throws {
        let folder = try TemporaryFolder()
        let (url, keys) = ("sqlite:" + folder.path("vault.db"), try TokenVault.newKeys())
        let missing = await #expect(throws: TokenVaultError.self) {
            try await TokenVault(url: url, keys: keys)
        }
        #expect(missing?.kind == .notInitialized && missing?.isRetryable == false)
        try await TokenVault.create(url: url, keys: keys)
        let vault = try await TokenVault(url: url, keys: keys)

        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
        let stored = try await vault.store(signIn)
        #expect(stored.state == .active && stored.userID == signIn.userID)
        #expect(try await vault.refreshToken(of: stored) == signIn.refreshToken)
        var printed = "\(stored)"
        dump(stored, to: &printed)
        #expect(!printed.contains(try #require(signIn.refreshToken)))

        let results = try await vault.revoke(userID: signIn.userID, with: apple.client).results
        #expect(results.map(\.evidence) == [.refreshAcceptedThenRejected])
        let tokens = try await vault.tokens(userID: signIn.userID, clientID: stored.clientID)
        #expect(tokens.map(\.state) == [.revoked])
        let again = try await vault.revoke(userID: signIn.userID, with: apple.client).results
        #expect(again.map(\.status) == [nil] && again.allSatisfy(\.isDead))
        #expect(try await vault.revoke(userID: "nobody", with: apple.client).foundNothing)
        #expect(try await vault.remove(userID: signIn.userID, clientID: stored.clientID) == 1)
    }

    @Test func `the intent to revoke is kept during an outage, and the next call completes it`()
        async throws
    {
        let (vault, folder) = try await makeVault()
        defer { extendLifetime(folder) }
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
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
    func `a damaged record affects no other record`(_ backend: Backend) async throws {
        let (vault, url, folder) = try await makeVault(backend)
        let apple = try await InProcessApple()
        var signIns: [SignIn] = []
        for _ in 0..<3 {
            signIns.append(try await apple.client.exchange(try await apple.signIn().code))
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
    func `tokens of a client that was not given are reported`(
        _ backend: Backend
    ) async throws {
        let (vault, _, folder) = try await makeVault(backend)
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
        let token = try #require(signIn.refreshToken)
        try await vault.store(signIn)
        let web = try SignInWithAppleClient(
            teamID: apple.teamID, clientID: "com.example.web", key: apple.key,
            transport: apple.transport, now: apple.clock.now)
        let failure = await #expect(throws: TokenVaultError.self) {
            try await vault.revoke(userID: signIn.userID, with: web)
        }
        #expect(failure?.kind == .otherClients)
        #expect(failure?.clientIDs == [apple.client.clientID])
        #expect(failure?.description.contains(apple.client.clientID) == true)
        try await apple.client.refresh(token)
        // With all clients, there is no warning.
        let both = try web.adding(
            clientID: apple.client.clientID, teamID: apple.teamID, key: apple.key)
        let results = try await vault.revoke(userID: signIn.userID, with: both).results
        #expect(results.map(\.evidence) == [.refreshAcceptedThenRejected])
        let rest = try await vault.revoke(userID: signIn.userID, with: web)
        #expect(rest.results.isEmpty && rest.alreadyRevoked == 1 && !rest.foundNothing)
        _ = folder
    }

    @Test func `a cancelled deletion can be repeated`() async throws {
        let (vault, _, folder) = try await makeVault(.sqlite)
        try await Fixture.serving { fixture in
            let signIn = try await fixture.client.exchange(try await fixture.apple.signIn().code)
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
                .results
            #expect(results.map(\.isDead) == [true])
        }
        _ = folder
    }

    @Test func `a locked vault does not lose a refresh token`() async throws {
        let (vault, _, folder) = try await makeVault(.sqlite, timeout: .milliseconds(100))
        let apple = try await InProcessApple()
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
        let lock = try DatabaseWriteLock("sqlite:" + folder.path("vault.db"))
        let failure = await #expect(throws: TokenVaultError.self) { try await vault.store(signIn) }
        #expect(failure?.kind == .busy && failure?.isRetryable == true)
        try lock.release()
        #expect(try await vault.store(signIn).state == .active)
    }

    @Test(arguments: Backend.available)
    func `an exchange that stores hands out no token`(_ backend: Backend) async throws {
        let (vault, _, folder) = try await makeVault(backend)
        let apple = try await InProcessApple()
        let native = try await apple.client.exchange(
            try await apple.signIn(nonce: "n").code, storingIn: vault, nonce: "n")
        #expect(native.token.state == .active && native.isSignatureChecked)
        let web = try apple.client.client(for: "com.example.web")
        let begun = try WebSignIn(redirectURI: "https://example.com/apple")
        let form = try await apple.signIn(at: try web.authorizationURL(for: begun))
        let stored = try await web.exchange(
            try WebCallback(form: form), of: begun, storingIn: vault)
        #expect(stored.userID == native.userID && stored.token.clientID == "com.example.web")
        #expect(try await vault.tokens().map(\.clientID) == ["com.example.app", "com.example.web"])
        let first = try await vault.tokens(limit: 1)
        #expect(try await vault.tokens(after: first[0]).map(\.clientID) == ["com.example.web"])
        let check = try await vault.check()
        #expect(check.tokens == [.active: 2] && check.faults == [])
        let done = try await vault.revoke(userID: stored.userID, with: apple.client)
        #expect(
            done.results.map(\.evidence) == Array(repeating: .refreshAcceptedThenRejected, count: 2)
        )
        _ = folder
    }

    @Test func `a token that the vault does not take is handed out by the error alone`()
        async throws
    {
        let (vault, _, folder) = try await makeVault(.sqlite, timeout: .milliseconds(100))
        let apple = try await InProcessApple()
        let lock = try DatabaseWriteLock("sqlite:" + folder.path("vault.db"))
        let code = try await apple.signIn().code
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await apple.client.exchange(code, storingIn: vault)
        }
        #expect(failure.kind == .notStored && failure.codeMayBeSpent && !failure.isRetryable)
        let signIn = try #require(failure.signIn)
        #expect(failure.tokens == signIn.tokens && signIn.refreshToken != nil)
        #expect(!"\(failure)".contains(try #require(signIn.refreshToken)))
        try lock.release()
        #expect(try await vault.store(signIn).state == .active)
    }

    @Test func `a cancelled exchange stores the token all the same`() async throws {
        let (vault, _, folder) = try await makeVault(.sqlite)
        let apple = try await InProcessApple()
        let gate = CancellationTests.Gate()
        let spy = SpyTransport(apple.transport) { request in
            if request.path == "/auth/token" { await gate.pass() }
            return nil
        }
        let client = try Fixture.makeClient(apple, spy)
        let code = try await apple.signIn().code
        let call = Task { try await client.exchange(code, storingIn: vault).token.state }
        try await eventually("the code is sent") { gate.isReached }
        call.cancel()
        gate.open()
        #expect(try await call.value == .active)
        #expect(try await vault.tokens().count == 1)
        _ = folder
    }

    @Test func `a notification ends a user's tokens`() async throws {
        let (vault, folder) = try await makeVault()
        defer { extendLifetime(folder) }
        try await Fixture.serving { fixture in
            let signIn = try await fixture.client.exchange(try await fixture.apple.signIn().code)
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
    func `a wrong clock of this machine does not refuse a sign-in`(_ offset: Int) async throws {
        let apple = try await InProcessApple()
        try await apple.control("switches", #"{"secret_clock": "real"}"#)
        try await apple.control("clock", #"{"offset": \#(offset)}"#)
        let signIn = try await apple.client.exchange(
            try await apple.signIn(nonce: "n").code, nonce: "n")
        #expect(signIn.refreshToken != nil && !signIn.userID.isEmpty)
    }

    @Test func `an event after the sign-in ends its token, even if this machine's clock is fast`()
        async throws
    {
        let (vault, folder) = try await makeVault()
        defer { extendLifetime(folder) }
        let apple = try await InProcessApple()
        try await apple.control("switches", #"{"secret_clock": "real"}"#)
        try await apple.control("clock", #"{"offset": -3600}"#)
        let signIn = try await apple.client.exchange(try await apple.signIn().code)
        try await vault.store(signIn)
        try await apple.control("clock", #"{"offset": -3590}"#)
        let answer = try await apple.control(
            "notifications", #"{"type": "consent-revoked", "user": "alice"}"#)
        let event = try await apple.client.notification(answer)
        let tokens = try await vault.apply(event)
        #expect(tokens.map(\.state) == [.consentRevoked])
    }

    @Test func `a wrong key and an invalid user are refused`() async throws {
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
        let (vault, place) = try await makeVault()
        defer { extendLifetime(place) }
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
