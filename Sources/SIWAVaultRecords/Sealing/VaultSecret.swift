internal import SIWAJOSE
package import SIWALifecycle

/// A secret that is sealed with a key of the vault outside its records: a token or code in
/// siwa-server's outbox, an answer in its journal of codes.
package struct VaultSecret: Hashable, Sendable {
    /// Where it is stored.
    package let row: Row
    /// The place that its encryption authenticates.
    package let place: [String]
    /// The secret, encrypted.
    package let sealed: SealedSecret

    /// Describes a stored secret.
    package init(row: Row, place: [String], sealed: SealedSecret) {
        (self.row, self.place, self.sealed) = (row, place, sealed)
    }

    /// A row with a secret, in the order in which rows are read.
    package enum Row: Hashable, Sendable {
        /// A job of the outbox, by its number.
        case job(Int)
        /// An entry of the journal, by the digest of its code.
        case code([UInt8])
    }
}

extension VaultSecret.Row: CustomStringConvertible {
    /// The name of the row in messages.
    package var description: String {
        switch self {
        case .job(let number): "job \(number) of siwa-server's outbox"
        case .code(let digest):
            "entry \(digest.prefix(6).hexadecimal) of siwa-server's journal of codes"
        }
    }
}

/// Some secrets in their order, and the damaged rows among them.
package struct VaultSecretPage: Sendable {
    /// The secrets whose rows can be read.
    package var secrets: [VaultSecret] = []
    /// Why other rows cannot be read.
    package var damaged: [StoreError] = []
    /// The last row: the next page begins after it. Nil if the page is empty, which is the end.
    package var next: VaultSecret.Row?

    /// Initially empty.
    package init() {}
}

extension Vault {
    /// Decrypts a secret.
    ///
    /// - Throws: ``StoreError``, which names the row, if it cannot be decrypted.
    package func open(_ secret: VaultSecret) throws(StoreError) {
        do throws(StoreError) {
            _ = try open(secret.sealed, for: secret.place)
        } catch {
            throw StoreError(error.kind, "\(secret.row) cannot be opened: \(error.message)")
        }
    }

    /// Encrypts secrets with the current key, in one transaction.
    ///
    /// - Returns: the number of secrets that were still stored as they are here.
    package func reseal(_ secrets: [VaultSecret]) throws(StoreError) -> Int {
        var changes: [VaultSecretChange] = []
        for secret in secrets {
            let text = try open(secret.sealed, for: secret.place)
            changes.append(VaultSecretChange(secret, try seal(text, for: secret.place)))
        }
        return try store.replace(changes)
    }
}

/// The new encryption of a secret.
package struct VaultSecretChange: Sendable {
    /// The secret as it was read.
    package let old: VaultSecret
    /// The same secret with another key.
    package let new: SealedSecret

    /// Describes the change.
    package init(_ old: VaultSecret, _ new: SealedSecret) { (self.old, self.new) = (old, new) }
}
