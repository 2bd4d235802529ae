package import Lifecycle
package import ServerRecords

/// The tables of siwa-server in the database of a vault; see ``openVaultStore(_:timeout:)``.
///
/// On PostgreSQL, nothing outlasts a transaction (no named statements, session settings or locks),
/// so that it works with transaction poolers.
package func openServerStore(
    _ url: String, timeout: VaultTimeout
) throws(VaultError) -> any ServerStore {
    SQLServerStore(try connector(of: url, timeout: timeout, isPooled: true))
}
