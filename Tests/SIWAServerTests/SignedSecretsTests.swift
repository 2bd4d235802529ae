import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWAApplication
@testable import SIWAServer

/// The secrets of a server's requests, which a signer signs.
@Suite struct SignedSecretsTests {
    private let now = Mutable(NumericDate(1_800_000_000))
    private let elapsed = Mutable(Duration.zero)
    private let signer: MoodySigner
    private let key: P256PrivateKey

    init() throws {
        key = try P256PrivateKey.generate()
        signer = MoodySigner(key)
    }

    /// Waits are real, the time is the test's.
    private var clocks: Clocks {
        let (now, elapsed) = (now, elapsed)
        return Clocks(
            now: { now.value },
            timekeeper: Timekeeper(
                elapsed: { elapsed.value }, sleep: Timekeeper.system.sleep))
    }

    private func client(
        _ name: String = "app", _ signer: (any ClientSecretSigner)? = nil
    ) -> ProfileClient {
        ProfileClient(
            name: name, teamID: TeamID(unchecked: "A1B2C3D4E5"),
            secrets: Client(
                teamID: TeamID(unchecked: "A1B2C3D4E5"), clientID: ClientID(unchecked: name),
                signingKey: SigningKey(
                    id: KeyID(unchecked: "K1L2M3N4P5"), publicKey: key.publicKey,
                    signer: signer ?? self.signer),
                secretLifetime: .seconds(3600)),
            audiences: [], transport: NoTransport(), clocks: clocks)
    }

    /// A secret that requests use.
    private struct Secret: Hashable {
        let text: String
        let expiresAt: NumericDate
    }

    private func secret(of client: ProfileClient) async throws -> Secret {
        let secret = try await client.secrets.secret(
            until: Deadline(after: .seconds(60), by: .system), by: clocks)
        return Secret(text: secret.text.revealed(), expiresAt: secret.expiresAt)
    }

    private func pass(_ time: Duration) {
        now.value = now.value + time
        elapsed.value += time
    }

    @Test func `a secret is renewed when half of its hour is over, and serves meanwhile`()
        async throws
    {
        let client = client()
        let first = try await secret(of: client)
        #expect(first.expiresAt - now.value == .seconds(3600))
        for _ in 0..<29 {
            pass(.seconds(60))
            client.secrets.renew(at: now.value)
            #expect(try await secret(of: client) == first)
        }
        #expect(signer.calls == 1)
        signer.mood = .isSlow
        pass(.seconds(61))
        for _ in 0..<100 { client.secrets.renew(at: now.value) }
        try await eventually("the signer is asked") { signer.calls == 2 }
        #expect(try await secret(of: client) == first, "nobody waits for the second one")
        signer.mood = .signs
        try await eventually("the second one serves") { try await secret(of: client) != first }
        #expect(try await secret(of: client).expiresAt - first.expiresAt == .seconds(1801))
        #expect(signer.calls == 2)
    }

    @Test func `a signer that is down is asked after 1, 2 and more seconds, up to a minute`()
        async throws
    {
        let client = client()
        let first = try await secret(of: client)
        signer.mood = .fails(.unavailable)
        pass(.seconds(1801))
        for (number, pause) in [0, 1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            elapsed.value += .seconds(pause) - .milliseconds(1)
            if pause > 0 { client.secrets.renew(at: now.value) }
            elapsed.value += .milliseconds(1)
            let answers = client.secrets.answered.count
            client.secrets.renew(at: now.value)
            try await eventually("it has answered") { client.secrets.answered.count > answers }
            #expect(signer.calls == 2 + number, "after a pause of \(pause) s")
            #expect(try await secret(of: client) == first, "the old secret serves")
        }
        #expect(try client.secrets.expiry(at: now.value) == first.expiresAt)
        now.value = first.expiresAt
        let calls = signer.calls
        #expect(throws: ClientSecretError.self) { try client.secrets.expiry(at: now.value) }
        let failure = await #expect(throws: ClientSecretError.self) { try await secret(of: client) }
        #expect(failure?.mayPass == true)
        #expect(signer.calls == calls, "neither asks before the pause is over")
        signer.mood = .signs
        elapsed.value += .seconds(60)
        #expect(try await secret(of: client) != first)
    }

    @Test func `a signer that fails for another secret is asked until it signs again`() async throws
    {
        let client = client()
        let first = try await secret(of: client)
        let signing = try #require(client.signing)
        func mint() async throws -> ClientSecret {
            try await client.secrets.mint(signing, lifetime: .seconds(60), at: now.value)
        }
        _ = try await mint()
        #expect(client.secrets.failure == nil && signer.calls == 2)
        signer.mood = .fails(.unavailable)
        await #expect(throws: ClientSecretError.self) { try await mint() }
        #expect(client.secrets.failure?.mayPass == true, "the status says it")
        #expect(try await secret(of: client) == first, "the secret of requests serves on")
        pass(.seconds(2))
        let answers = client.secrets.answered.count
        client.secrets.renew(at: now.value)
        try await eventually("it is asked") { client.secrets.answered.count > answers }
        #expect(client.secrets.failure != nil && signer.calls == 4)
        let reloaded = self.client()
        reloaded.secrets.adopt(client.secrets)
        #expect(reloaded.secrets.failure != nil, "a reload alone repairs nothing")
        signer.mood = .signs
        for client in [client, reloaded] {
            pass(.seconds(60))
            client.secrets.renew(at: now.value)
            try await eventually("it is known that it signs") { client.secrets.failure == nil }
        }
        #expect(try await secret(of: client) != first)
        signer.mood = .fails(.unavailable)
        await #expect(throws: ClientSecretError.self) { try await mint() }
        signer.mood = .signs
        _ = try await mint()
        #expect(client.secrets.failure == nil)
    }

    @Test func `after a reload, the secrets of a key that is the same serve on`() async throws {
        let old = ProfileClients([client("app"), client("web")], standard: "app")
        for client in old.all { _ = try await secret(of: client) }
        #expect(signer.calls == 2)
        let new = ProfileClients([client("app"), client("web")], standard: "app")
        new.adoptSecrets(of: old)
        for (before, after) in zip(old.all, new.all) {
            #expect(try await secret(of: before) == secret(of: after))
        }
        #expect(signer.calls == 2)
        let key = try P256PrivateKey.generate()
        let changed = ProfileClient(
            name: "app", teamID: TeamID(unchecked: "A1B2C3D4E5"),
            secrets: Client(
                teamID: TeamID(unchecked: "A1B2C3D4E5"), clientID: ClientID(unchecked: "app"),
                signingKey: SigningKey(
                    id: KeyID(unchecked: "K1L2M3N4P5"), publicKey: key.publicKey,
                    signer: MoodySigner(key))), audiences: [], transport: NoTransport(),
            clocks: clocks)
        let others = ProfileClients([changed], standard: "app")
        others.adoptSecrets(of: old)
        #expect(try await secret(of: changed) != secret(of: old.all[0]), "it is another key's")
    }

    @Test(arguments: [1, 2])
    func `a secret whose signature took over a minute is signed again, with another time`(
        lateAnswers: Int
    ) async throws {
        let (elapsed, base) = (elapsed, signer)
        let late = LateSigner(base) {
            if base.calls < lateAnswers { elapsed.value += .seconds(61) }
        }
        let client = Client(
            teamID: TeamID(unchecked: "A1B2C3D4E5"), clientID: ClientID(unchecked: "app"),
            signingKey: SigningKey(
                id: KeyID(unchecked: "K1L2M3N4P5"), publicKey: key.publicKey, signer: late))
        func minted() async throws -> ClientSecret {
            try await client.mintSecret(
                at: now.value, lifetime: .seconds(300), timekeeper: clocks.timekeeper)
        }
        guard lateAnswers == 1 else {
            let failure = await #expect(throws: ClientSecretError.self) { try await minted() }
            #expect(failure?.mayPass == true && signer.calls == 2)
            return
        }
        let secret = try await minted()
        #expect(signer.calls == 2 && secret.expiresAt == now.value + .seconds(361))
        #expect(secret.issuedAt == now.value + .seconds(1), "a minute earlier than it was signed")
    }

    @Test func `profiles with the same signer ask it in turn, and not after it denied`()
        async throws
    {
        let shared = SharedSigners()
        let place = SignerPlace.socket("/run/siwa-signer/sign.sock")
        let all = ["one", "two", "three"].map { client($0, shared.signer(signer, at: place)) }
        let clients = ProfileClients(all, standard: "one")
        signer.mood = .fails(.denied)
        let warnings = try await clients.askSigners(clocks)
        #expect(warnings.count == 3 && signer.calls == 1, "\(warnings)")
        signer.mood = .signs
        for client in all {
            let failure = await #expect(throws: ClientSecretError.self) {
                try await secret(of: client)
            }
            #expect(failure?.mayPass == false)
        }
        #expect(signer.calls == 1)
        let other = client("four", shared.signer(signer, at: .socket("/run/other.sock")))
        _ = try await secret(of: other)
        #expect(signer.calls == 2, "another signer may be asked")
    }

    @Test func `all profiles get their secrets from one signer, one after the other`() async throws
    {
        let shared = SharedSigners()
        let place = SignerPlace.exec("/bin/sign", arguments: [], variables: [])
        let all = (0..<10).map { client("profile\($0)", shared.signer(signer, at: place)) }
        #expect(try await ProfileClients(all, standard: nil).askSigners(clocks) == [])
        #expect(signer.calls == 10 && signer.mostAtOnce == 1)
    }
}

/// Sends nothing.
private struct NoTransport: Transport {
    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.malformed, "nothing is sent", requestMayHaveLeft: false)
    }
}

/// A signer that is late.
private struct LateSigner: ClientSecretSigner {
    private let base: MoodySigner
    private let wait: @Sendable () -> Void

    init(_ base: MoodySigner, wait: @escaping @Sendable () -> Void) {
        (self.base, self.wait) = (base, wait)
    }

    func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        wait()
        return try await base.signature(for: message)
    }
}

/// A signer that does what a test wants.
private final class MoodySigner: ClientSecretSigner {
    enum Mood: Hashable, Sendable {
        case signs
        /// Signs after its mood has changed.
        case isSlow
        case fails(SignerFailure.Kind)
    }

    private struct State {
        var mood = Mood.signs
        var calls = 0
        var current = 0
        var mostAtOnce = 0
    }

    private let key: P256PrivateKey
    private let state = Mutex(State())

    init(_ key: P256PrivateKey) { self.key = key }

    var calls: Int { state.withLock(\.calls) }
    var mostAtOnce: Int { state.withLock(\.mostAtOnce) }
    var mood: Mood {
        get { state.withLock(\.mood) }
        set { state.withLock { $0.mood = newValue } }
    }

    func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        state.withLock { state in
            state.calls += 1
            state.current += 1
            state.mostAtOnce = max(state.mostAtOnce, state.current)
        }
        defer { state.withLock { $0.current -= 1 } }
        await Task.yield()
        while mood == .isSlow { try? await Task.sleep(for: .milliseconds(5)) }
        if case .fails(let kind) = mood { throw SignerFailure(kind, "it fails") }
        do {
            return try key.signature(for: message.revealed().span).rawRepresentation
        } catch {
            throw SignerFailure(.key, "\(error)")
        }
    }
}
