package import Lifecycle
package import ServerRecords

/// The tables of siwa-server in the database of a vault; see ``openVaultStore(_:timeout:)``.
///
/// On PostgreSQL it leaves nothing behind in a session but prepared settings of its transaction, so
/// that it works through transaction poolers: no named statements, no session settings, no locks
/// that outlast a transaction.
package func openServerStore(
    _ url: String, timeout: VaultTimeout
) throws(VaultError) -> any ServerStore {
    SQLServerStore(try connector(of: url, timeout: timeout, isPooled: true))
}
