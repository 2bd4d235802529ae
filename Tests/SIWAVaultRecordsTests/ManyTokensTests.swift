import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

private let actor = VaultActor(command: "test", host: "here")
private let now = NumericDate(1_800_000_000)

/// What concerns some tokens of a user costs the same if the user has many others.
@Suite(.blocking) struct ManyTokensTests {
    private static let user = VaultUser.sample(1)
    private static let many = 200

    private static func item(_ number: Int, _ state: VaultState = .active) -> VaultItem {
        VaultItem(
            user: user, token: RefreshToken(SecretText("r-hush-\(number)")), state: state,
            storedAt: now, changedAt: now)
    }

    /// A vault of many tokens of one user, whose statements are counted.
    private func filled(
        _ fixture: any SQLStoreFixture, _ state: VaultState = .active
    ) throws -> (Vault, WatchedConnector.Seen) {
        let keys = try VaultKeyRing(VaultKeyRing.newLine(number: 1))
        let connector = WatchedConnector(base: try fixture.connector(timeout: .seconds(60)))
        let store = SQLVaultStore(connector)
        try Vault.create(store, keys)
        let vault = try Vault(store, keys, by: actor)
        try vault.take((0..<Self.many).map { Self.item($0, state) }, at: now)
        return (vault, connector.seen)
    }

    @Test(arguments: SQLBackend.available)
    func `what concerns one token reads no other of its user`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let (vault, seen) = try filled(fixture, .dead)
        let record = try #require(try vault.store.records(of: [Self.user]).records.last)
        let item = Self.item(Self.many)
        var last: VaultRecord?
        let operations: [(name: String, run: () throws -> Void)] = [
            ("import", { try vault.take([item], at: now) }),
            ("dry run", { _ = try vault.previewMerge([record], after: &last, at: now) }),
            ("exchange", { try vault.store(item.token, for: Self.user, at: now) }),
            ("result", { try vault.note([VaultNote(record, .refreshRefused)], at: now) }),
            ("rekey", { try #expect(vault.reseal([record]) == 1) }),
            (
                "prune",
                {
                    let end = now + .seconds(1)
                    try #expect(vault.keyless.prune(before: end, limit: 1, at: end).count == 1)
                }
            ),
            (
                "remove",
                {
                    let id = record.id
                    try #expect(
                        vault.keyless.remove(Self.user, id.fingerprint, at: now).records
                            .map(\.id) == [id])
                }
            ),
        ]
        for operation in operations {
            seen.rows.withLock { $0 = 0 }
            try operation.run()
            // The record, the mark, the newest key, and the history's last entry.
            let rows = seen.rows.withLock(\.self)
            #expect((1...10).contains(rows), "\(operation.name) reads \(rows) rows")
        }
        let left = try vault.store.records(of: [Self.user]).records
        #expect(left.count == Self.many - 1)
    }

    @Test(arguments: SQLBackend.available)
    func `the history of a user is searched once for all tokens`(_ backend: SQLBackend) async throws
    {
        let fixture = try await backend.fixture()
        let (vault, seen) = try filled(fixture)
        for time in [now + .seconds(5), now + .seconds(9)] {
            try vault.note(.consentRevoked(at: time), ofAllTokensOf: [Self.user], at: time)
            try vault.note(.issued, ofAllTokensOf: [Self.user], at: time)
        }
        let all = try vault.store.records(of: [Self.user]).records.map(\.id)
        let asked = [all[0]] + all[2...]
        seen.statements.withLock { $0 = [] }
        seen.rows.withLock { $0 = 0 }
        let states = try vault.store.lastStates(of: asked)
        let expected = VaultPastState(.active, since: now + .seconds(9))
        #expect(states == Dictionary(uniqueKeysWithValues: asked.map { ($0, expected) }))
        let searches = seen.statements.withLock(\.self).filter {
            $0.sql.contains("token_fingerprint")
        }
        #expect(searches.count == 1)
        for value in searches[0].values {
            if case .array(_, let values) = value { #expect(values.count == 1) }
        }
        // One for each token, the mark, and whether there is a history.
        #expect(seen.rows.withLock(\.self) <= Self.many + 5)
    }
}
