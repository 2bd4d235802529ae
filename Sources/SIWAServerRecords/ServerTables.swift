internal import SIWALifecycle
package import SIWAVaultRecords

/// The tables that a server finds before it starts.
package struct ServerTables: Sendable {
    /// What the start would change, as parts of a sentence.
    package let pending: [String]
    /// The vault's keys.
    package let keyChecks: [VaultKeyCheck]

    /// Creates the result of an examination.
    package init(pending: [String], keyChecks: [VaultKeyCheck]) {
        (self.pending, self.keyChecks) = (pending, keyChecks)
    }
}
