import SIWALifecycle
import SIWAVaultRecords
import Testing

extension StoreContract {
    static let making = [
        StoreContract("without a vault, every call reports that it is missing") { fixture in
            let calls: [(any VaultStore) throws -> Void] = [
                { _ = try $0.keyChecks() }, { try $0.register(.first) },
                { _ = try $0.record(of: .sample(1)) }, { _ = try $0.all() },
                { _ = try $0.counts(of: nil) }, { try $0.put([VaultRecord(.sample(1))]) },
                { _ = try $0.claim(.long("a")) },
            ]
            for call in calls {
                let error = #expect(throws: StoreError.self) { try call(fixture.store()) }
                #expect(error?.kind == .notInitialized)
            }
        },
        StoreContract("a store that found no vault uses one that is created later") { fixture in
            let store = try fixture.store()
            #expect(throws: StoreError.self) { try store.keyChecks() }
            _ = try fixture.vault()
            #expect(try store.keyChecks() == [.first])
        },
        StoreContract("a vault is created once") { fixture in
            let store = try fixture.vault()
            for again in [store, try fixture.store()] {
                let error = #expect(throws: StoreError.self) { try again.create(.second) }
                #expect(error?.kind == .alreadyInitialized)
                #expect(try again.keyChecks() == [.first])
            }
        },
        StoreContract("a new vault is empty") { fixture in
            let store = try fixture.vault()
            #expect(try store.all() == [])
            #expect(try store.counts(of: nil) == [:])
            #expect(try store.claim(.long("a")) == [])
            #expect(try store.record(of: .sample(1)) == nil)
            #expect(try store.clients() == [])
            #expect(try store.faults() == [])
        },
        StoreContract("keys are ordered by number, and the first key of each number is kept") {
            fixture in
            let store = try fixture.vault()
            let third = VaultKeyCheck(number: 3, sealed: [])
            for key in [third, .second, VaultKeyCheck(number: 2, sealed: [9])] {
                try store.register(key)
            }
            #expect(try fixture.store().keyChecks() == [.first, .second, third])
        },
    ]
}
