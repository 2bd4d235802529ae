import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

/// The services of one process.
struct Replica: Sendable {
    let clients: ProfileClients
    let access: StoreAccess
    let vault: SharedVault
    let exchange: ExchangeService
    let refresh: RefreshService
    let worker: RevocationWorker
    let revocation: RevocationService

    init(
        _ clients: ProfileClients, _ access: StoreAccess, _ vault: Vault,
        _ fixture: ServiceFixture, owner: String, hasKeys: Bool
    ) {
        (self.clients, self.access) = (clients, access)
        let (keys, clocks) = (fixture.keys, fixture.clocks)
        let log: ServiceLog = { [log = fixture.log] in log.add($0) }
        let shared = SharedVault(vault) { keys }
        self.vault = shared
        let journal = CodeJournal(access, shared, clocks: clocks, owner: owner, log: log)
        let fetch = clients.all[0]
        let clock = AppleClock(clocks, log: log)
        exchange = ExchangeService(
            journal,
            keys: { _ in
                guard hasKeys else { return .apple(nil) }
                let client = KeySetClient(baseURL: fetch.baseURL, delivery: fetch.delivery())
                return .apple(try? await client.fetch().keySet)
            }, clients: { clients }, clock: clock, clocks: clocks, log: log)
        refresh = RefreshService(
            access, shared, clients: { clients }, clocks: clocks, log: log)
        worker = RevocationWorker(
            access, shared, journal, clients: { clients }, clocks: clocks, owner: owner, log: log)
        revocation = RevocationService(
            access, shared, worker, clients: { clients }, clocks: clocks)
    }

    /// Exchanges a code with the usual parameters.
    func exchanged(
        _ code: AuthorizationCode, of client: ClientID = ServiceFixture.app,
        nonce: String? = nil, isStoring: Bool = true
    ) async throws -> ExchangeAnswer {
        try await exchange.exchange(
            ExchangeInput(
                code, for: try #require(clients[client]), isClientGiven: true,
                redirectURI: client == ServiceFixture.web ? ServiceFixture.redirectURI : nil,
                nonce: nonce.map { SecretText($0) }, isStoring: isStoring))
    }

    /// Runs the worker of revocations while `body` runs.
    func working<Value>(_ body: () async throws -> Value) async throws -> Value {
        let running = Task { [worker] in await worker.run() }
        defer { running.cancel() }
        return try await body()
    }

    /// The result of a revocation; waits for it, at most a minute.
    func ended(_ target: RevocationInput.Target) async throws -> JSON {
        let reply = try await revocation.revoke(
            RevocationInput(target, maxWait: .seconds(60)))
        switch reply {
        case .ended(let json): return json
        case .pending(let status):
            throw Unexpected(description: "it is pending: \(status.jobs)")
        }
    }
}

extension Vault {
    /// A job that was requested in 1970.
    func sealedJob(
        _ secret: String, _ kind: RevocationJob.Kind, of clientID: ClientID
    ) throws -> RevocationJob {
        try .sealing(
            SecretText(secret), kind, of: clientID, nil, .none, in: self, at: NumericDate(1))
    }
}
