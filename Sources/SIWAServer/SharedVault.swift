import SIWALifecycle
import SIWAVaultRecords
internal import Synchronization

/// The vault of a long-running process: its keys are reloaded when another process adds a key.
final class SharedVault: Sendable {
    private let state: Mutex<Vault>
    private let readKeys: @Sendable () throws -> VaultKeyRing

    /// - Parameter readKeys: reads the keys from their file.
    init(_ vault: Vault, readKeys: @escaping @Sendable () throws -> VaultKeyRing) {
        state = Mutex(vault)
        self.readKeys = readKeys
    }

    /// The vault with the keys that were last read.
    var current: Vault { state.withLock { $0 } }

    /// Runs `body`, which encrypts or decrypts; reloads the keys and runs it again if a key is
    /// missing or is not the newest. Blocks.
    func with<Result>(
        _ body: (Vault) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try body(current)
        } catch {
            guard [.key, .keySuperseded].contains(error.kind), (try? renew()) != nil else {
                throw error
            }
            return try body(current)
        }
    }

    /// Runs `body`, which seals a secret outside the vault's records: what it writes must not need a
    /// key that `vault rekey` has left behind. If the newest key cannot be loaded, the old one seals:
    /// nothing is lost for that. Blocks.
    func sealing<Result>(
        _ body: (Vault) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let current = current
        if let newest = try? current.store.keyChecks().last?.number, newest != current.currentKey {
            try? renew()
        }
        return try with(body)
    }

    /// Reloads the keys.
    ///
    /// - Throws: an error if they cannot be used; the old keys then stay in use.
    func renew() throws {
        let old = current
        let new = try Vault(old.store, try readKeys(), by: old.actor)
        state.withLock { $0 = new }
    }
}
