import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWASystem
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWAApplication
@testable import SIWADatabases
@testable import SIWAServer
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// A database with a vault, an emulator in the same process, and replicas of siwa-server's
/// services.
struct ServiceFixture: Sendable {
    let url: String
    let emulator: AppleEmulator
    let keys: VaultKeyRing
    let log = LogRecorder()
    let now = Mutable(NumericDate(1_800_000_000))
    private let folder: TemporaryFolder?
    private let signingKey: SigningKey

    static let app = ClientID(unchecked: "com.example.app")
    static let web = ClientID(unchecked: "com.example.web")
    static let redirectURI = "https://example.com/back"

    /// The databases of this machine.
    enum Backend: String, CaseIterable, CustomTestStringConvertible {
        case sqlite, postgres

        static let available = allCases.filter { $0 == .sqlite || PostgresServer.isAvailable }
        var testDescription: String { rawValue }
    }

    init(_ backend: Backend) async throws {
        switch backend {
        case .sqlite:
            let folder = try TemporaryFolder()
            self.folder = folder
            url = "sqlite:" + folder.path("vault.db")
        case .postgres:
            folder = nil
            url = try await PostgresServer.shared().database()
        }
        keys = try VaultKeyRing(VaultKeyRing.newLine(number: 1))
        let key = try P256PrivateKey.generate()
        signingKey = SigningKey(key, id: KeyID(unchecked: "K1L2M3N4P5"))
        let now = now
        emulator = AppleEmulator(
            configuration: Self.configuration(key.publicKey), keys: try await Self.keys.value,
            clock: { now.value })
        let store = try ServerStore(url, timeout: .eachStatement(.seconds(60)))
        try Vault.create(store.vault, keys)
        try store.prepare(isAlone: true)
    }

    /// Apple's own keys, which take longer to make than everything else.
    private static let keys = Task { try await EmulatorKeys.generate() }

    private static func configuration(_ key: P256PublicKey) -> EmulatorConfiguration {
        EmulatorConfiguration(
            teamID: TeamID(unchecked: "A1B2C3D4E5"),
            clients: [
                EmulatedClient(clientID: app, kind: .app),
                EmulatedClient(clientID: web, kind: .web, redirectURIs: [redirectURI]),
            ],
            keys: [EmulatedKey(keyID: KeyID(unchecked: "K1L2M3N4P5"), publicKey: key)],
            users: ["alice", "bob"].map {
                EmulatedUser(
                    name: $0, userID: EmulatedUser.freshUserID(), firstName: $0, lastName: "A",
                    email: "\($0)@example.com")
            })
    }

    /// The date is fixed, waits are real.
    var clocks: Clocks {
        let now = now
        return Clocks(now: { now.value }, timekeeper: .system)
    }

    /// The store as one process has it.
    func store(_ timeout: Duration = .seconds(60)) throws -> ServerStore {
        try ServerStore(url, timeout: .eachStatement(timeout))
    }

    /// A process.
    ///
    /// - Parameters:
    ///   - hook: runs around each request to Apple.
    ///   - hasKeys: whether Apple's keys can be fetched.
    ///   - ids: the clients that have a profile.
    func replica(
        _ owner: String = "one", timeout: Duration = .seconds(60), hasKeys: Bool = true,
        clients ids: [ClientID] = [app, web],
        hook: @escaping HookedTransport.Hook = { try await $1() }
    ) throws -> Replica {
        let store = try store(timeout)
        let vault = try Vault(
            store.vault, keys, by: VaultActor(command: "siwa-server", host: "test"))
        let transport = HookedTransport(base: EmulatorTransport(emulator), hook: hook)
        let clients = ProfileClients(
            ids.map { id in
                ProfileClient(
                    name: id.rawValue, teamID: TeamID(unchecked: "A1B2C3D4E5"),
                    secrets: Client(
                        teamID: TeamID(unchecked: "A1B2C3D4E5"), clientID: id,
                        signingKey: signingKey),
                    audiences: [id.rawValue], maxAttempts: 1, transport: transport, clocks: clocks)
            }, standard: Self.app.rawValue)
        return Replica(
            clients, StoreAccess(store, on: Self.threads), vault, self, owner: owner,
            hasKeys: hasKeys)
    }

    private static let threads: any TaskExecutor =
        (try? WorkerThreads(8)) ?? globalConcurrentExecutor

    /// A code of a sign-in.
    func code(
        of client: ClientID = app, user: String = "alice", nonce: String? = nil
    ) async throws -> AuthorizationCode {
        let nonce = nonce.map { [JSON.Member("nonce", .string($0))] } ?? []
        let answer = try await emulator.control(
            "codes",
            .object(
                [
                    .init("client_id", .string(client.rawValue)), .init("user", .string(user)),
                ] + nonce))
        return AuthorizationCode(SecretText(try #require(answer["code"]?.string)))
    }

    /// Makes the emulator fail.
    func fault(_ members: JSON) async throws {
        _ = try await emulator.control("faults", members)
    }

    /// How many requests with these values the emulator got.
    func requests(_ path: String, grant: String? = nil) async throws -> Int {
        let answer = try await emulator.control("requests", ["path": .string(path)])
        return (answer["requests"]?.elements ?? []).count { request in
            grant == nil || request["grant_type"]?.string == grant
        }
    }

    /// Runs a statement of the test's.
    func run(_ sql: String) throws {
        _ = try connector(of: url, timeout: .eachStatement(.seconds(60))).connect(creating: false)
            .run(sql, [])
    }

    /// Puts an event into the inbox that concerns no stored token yet.
    func receiveConsentRevoked(
        _ number: Int, of userID: String, for audience: String, at moment: NumericDate
    ) throws {
        let user = VaultUser(ClientID(unchecked: audience), UserID(unchecked: userID))
        let id = try EventID(jti: "event-\(number)", payload: [])
        let event = InboxEvent(
            id: id, type: "consent-revoked", user: user, occurredAt: moment, receivedAt: moment,
            expiresAt: moment + .seconds(86_400), body: [])
        _ = try store().receive(
            [IncomingEvent(event, isDelivered: false, notice: nil)]
        ) { _, _ in VaultChanges() }
    }

    /// All records of the vault.
    func records() throws -> [VaultRecord] {
        try store().vault.records(VaultFilter(), after: nil, limit: 1000).records
    }
}

/// A transport whose requests a test observes and changes.
struct HookedTransport: Transport {
    /// Receives the request and the function that sends it.
    typealias Hook =
        @Sendable (HTTPRequest, () async throws -> HTTPResponse) async throws -> HTTPResponse

    let base: any Transport
    let hook: Hook

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        do {
            return try await hook(request) { try await base.send(request, timeout: timeout) }
        } catch let error as TransportError {
            throw error
        } catch {
            throw TransportError(.malformed, "\(error)", requestMayHaveLeft: true)
        }
    }
}

/// A value that a test changes.
final class Mutable<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// What the services wrote into the log.
final class LogRecorder: Sendable {
    private let events = Mutex<[ServiceEvent]>([])

    func add(_ event: ServiceEvent) { events.withLock { $0.append(event) } }

    var names: [String] { events.withLock { $0.map(\.name) } }
}

extension Diagnosis {
    /// The error that `body` throws.
    static func thrown<Value>(by body: () async throws -> Value) async throws -> Diagnosis {
        do {
            let value = try await body()
            throw Unexpected(description: "no error, but \(value)")
        } catch let diagnosis as Diagnosis {
            return diagnosis
        }
    }
}

/// An unexpected result.
struct Unexpected: Error, CustomStringConvertible {
    let description: String
}
