package import Lifecycle
internal import Synchronization

/// The vault of a process that runs for long: its keys are read again when others made a newer one.
package final class SharedVault: Sendable {
    private let state: Mutex<Vault>
    private let readKeys: @Sendable () throws -> VaultKeyRing

    /// - Parameter readKeys: reads the keys from where they are kept.
    package init(_ vault: Vault, readKeys: @escaping @Sendable () throws -> VaultKeyRing) {
        state = Mutex(vault)
        self.readKeys = readKeys
    }

    /// The vault with the keys that were read last.
    package var current: Vault { state.withLock { $0 } }

    /// Does something that encrypts or decrypts; again, with the keys read again, if a key is
    /// missing or is not the newest. Blocks.
    package func with<Result>(
        _ body: (Vault) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try body(current)
        } catch {
            guard [.key, .keySuperseded].contains(error.kind), renew() else { throw error }
            return try body(current)
        }
    }

    /// Reads the keys again.
    ///
    /// - Returns: false if they cannot be read; then the old ones stay.
    @discardableResult
    package func renew() -> Bool {
        let old = current
        guard let keys = try? readKeys(), let new = try? Vault(old.store, keys, by: old.actor)
        else { return false }
        state.withLock { $0 = new }
        return true
    }
}
