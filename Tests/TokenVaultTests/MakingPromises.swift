import SignInWithApple
import Testing

extension Promise {
    static let making = [
        Promise("without a vault every call says so") { ground in
            let calls: [(any VaultStore) throws -> Void] = [
                { _ = try $0.keyChecks() }, { try $0.register(.first) },
                { _ = try $0.record(of: .sample(1)) }, { _ = try $0.all() },
                { _ = try $0.counts(of: nil) }, { try $0.put([VaultRecord(.sample(1))]) },
                { _ = try $0.claim(.long("a")) },
            ]
            for call in calls {
                let error = #expect(throws: VaultError.self) { try call(ground.store()) }
                #expect(error?.kind == .notInitialized)
            }
        },
        Promise("a store that found no vault finds the one that is made later") { ground in
            let store = try ground.store()
            #expect(throws: VaultError.self) { try store.keyChecks() }
            _ = try ground.vault()
            #expect(try store.keyChecks() == [.first])
        },
        Promise("a vault is made once") { ground in
            let store = try ground.vault()
            for again in [store, try ground.store()] {
                let error = #expect(throws: VaultError.self) { try again.create(.second) }
                #expect(error?.kind == .alreadyInitialized)
                #expect(try again.keyChecks() == [.first])
            }
        },
        Promise("a new vault is empty") { ground in
            let store = try ground.vault()
            #expect(try store.all() == [])
            #expect(try store.counts(of: nil) == [:])
            #expect(try store.claim(.long("a")) == [])
            #expect(try store.record(of: .sample(1)) == nil)
            #expect(try store.clients() == [])
            #expect(try store.faults() == [])
        },
        Promise("keys come in the order of their numbers, each the first of its number") { ground in
            let store = try ground.vault()
            let third = VaultKeyCheck(number: 3, sealed: [])
            for key in [third, .second, VaultKeyCheck(number: 2, sealed: [9])] {
                try store.register(key)
            }
            #expect(try ground.store().keyChecks() == [.first, .second, third])
        },
    ]
}
