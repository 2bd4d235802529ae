import Dispatch
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// On PostgreSQL, a token is stored while an event of its user is received. Neither may miss the
/// other: the event would never reach the token.
@Suite(.blocking, .enabled(if: PostgresServer.isAvailable)) struct LateTokenRaceTests {
    @Test func `a token that is stored while an event is received gets the event`() async throws {
        let fixture = try await PostgresStoreFixture()
        let store = try fixture.preparedServerStore()
        let event = try IncomingEvent.sample(1, revokesConsent: true)
        let seen = Mutex<[VaultNotice]>([])
        let stored = DispatchSemaphore(value: 0)
        _ = try store.receive([event]) { _, page throws(StoreError) in
            #expect(page.records.isEmpty)
            fixture.startAndAwaitLock(stored) {
                try Self.view(of: fixture.serverStore()).change(
                    .tokens([Self.new.id]), releasing: nil
                ) {
                    page throws(StoreError) in
                    seen.withLock { $0 = page.notices }
                    return Self.newToken
                }
            }
            return VaultChanges()
        }
        stored.wait()
        #expect(seen.withLock { $0 } == [event.notice])
    }

    @Test func `an event that is received while a token is stored applies to the token`()
        async throws
    {
        let fixture = try await PostgresStoreFixture()
        let store = try fixture.preparedServerStore()
        let seen = Mutex<[VaultRecord]>([])
        let received = DispatchSemaphore(value: 0)
        let event = try IncomingEvent.sample(1, revokesConsent: true)
        try Self.view(of: store).change(.tokens([Self.new.id]), releasing: nil) {
            page throws(StoreError) in
            #expect(page.notices.isEmpty)
            fixture.startAndAwaitLock(received) {
                _ = try fixture.serverStore().receive([event]) { _, page throws(StoreError) in
                    seen.withLock { $0 = page.records }
                    return VaultChanges()
                }
            }
            return Self.newToken
        }
        received.wait()
        #expect(seen.withLock { $0 } == [VaultRecord(.sample(1))])
    }

    private static let new = VaultRecord(.sample(1))
    private static let newToken = VaultChanges(updates: [VaultUpdate(new, replacing: nil)])

    private static func view(of store: ServerStore) throws(StoreError) -> any VaultStore {
        let code: CodeDigest
        do {
            code = try CodeDigest(of: AuthorizationCode(SecretText("c")))
        } catch {
            throw StoreError(.damaged, "\(error)")
        }
        return store.vault(
            finishing: code, .notSent, by: "a", heeding: [VaultUser.sample(1).clientID])
    }
}

extension PostgresStoreFixture {
    /// Runs `body` on a thread of its own, and returns when it waits for a lock or has ended.
    fileprivate func startAndAwaitLock(
        _ ended: DispatchSemaphore, _ body: @escaping @Sendable () throws -> Void
    ) {
        do {
            let isOver = EndFlag()
            try startThread {
                do { try body() } catch { Issue.record(error) }
                isOver.set()
                ended.signal()
            }
            while !isOver.isSet, try waitingSessions() == 0 {}
        } catch {
            Issue.record(error)
        }
    }
}

private final class EndFlag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
