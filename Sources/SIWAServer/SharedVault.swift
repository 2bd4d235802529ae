internal import SIWAApplication
import SIWALifecycle
internal import SIWASystem
import SIWAVaultRecords
internal import Synchronization

/// The vault of a long-running process: its keys are reloaded when another process adds a key.
final class SharedVault: Sendable {
    private let state: Mutex<Vault>
    private let readKeys: @Sendable () throws -> VaultKeyRing
    private let examineKeys: @Sendable () throws -> VaultKeyRing
    private let watch: DatabaseWatch?

    /// - Parameters:
    ///   - readKeys: reads the keys from their file.
    ///   - examineKeys: does so without warnings; nil for `readKeys`.
    ///   - watch: notes records that cannot be decrypted; nil for nobody.
    init(
        _ vault: Vault, readKeys: @escaping @Sendable () throws -> VaultKeyRing,
        examineKeys: (@Sendable () throws -> VaultKeyRing)? = nil,
        watch: DatabaseWatch? = nil
    ) {
        self.watch = watch
        state = Mutex(vault)
        self.readKeys = readKeys
        self.examineKeys = examineKeys ?? readKeys
    }

    /// Why the vault could not be opened with the keys that are in their file now, as by another
    /// process or after a restart; nil if it could. Blocks.
    ///
    /// - Parameter checks: the keys of the vault.
    func keyFileFault(_ checks: [VaultKeyCheck]) -> String? {
        // That the file cannot be opened now says nothing about it.
        guard (try? requireDescriptors()) != nil else { return nil }
        do {
            _ = try Vault.encryptingKey(checks, try examineKeys())
            return nil
        } catch {
            return Diagnosis(error).message
        }
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
            watch?.noteRecord(error)
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
