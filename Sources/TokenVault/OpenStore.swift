package import Lifecycle
package import ServerRecords

/// Creates the store of a vault by its URL: `sqlite:PATH` for a file, or `postgresql://…`, in
/// libpq's format, for a database on a server. The first call of the store loads the library and
/// connects; the connection is kept until the store is released.
///
/// A store runs one transaction at a time. The closures of ``VaultStore/change(_:releasing:_:)``
/// and ``VaultStore/claim(_:limit:for:_:)`` may be called again if the connection broke or another
/// transaction came first. They must not call the store.
///
/// - Parameters:
///   - url: the URL.
///   - timeout: the time limit of a call, after which it throws ``VaultError`` of kind `busy` if
///     others hold a lock, or `unreachable`.
/// - Throws: ``VaultError`` of kind `unusable` for any other URL. The message does not contain the
///   URL, which may have a password.
package func openVaultStore(
    _ url: String, timeout: VaultTimeout
) throws(VaultError) -> any VaultStore {
    SQLVaultStore(try connector(of: url, timeout: timeout))
}

/// The tables of siwa-server in the database of a vault; see ``openVaultStore(_:timeout:)``.
///
/// On PostgreSQL, nothing outlasts a transaction (no named statements, session settings or locks),
/// so that it works with transaction poolers.
package func openServerStore(
    _ url: String, timeout: VaultTimeout
) throws(VaultError) -> any ServerStore {
    SQLServerStore(try connector(of: url, timeout: timeout, isPooled: true))
}

/// Finds the database that a URL names.
///
/// - Parameter isPooled: leaves nothing in a PostgreSQL session that outlasts a transaction.
func connector(
    of url: String, timeout: VaultTimeout, isPooled: Bool = false
) throws(VaultError) -> any DatabaseConnector {
    if url.hasPrefix(sqlite) {
        let path = String(url.dropFirst(sqlite.count))
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw VaultError(.unusable, "the vault's URL has no path after \(sqlite)")
        }
        return SQLiteConnector(path: path, timeout: timeout)
    }
    if ["postgresql://", "postgres://"].contains(where: url.hasPrefix), !url.utf8.contains(0) {
        return PostgresConnector(url: url, timeout: timeout, isPooled: isPooled)
    }
    throw VaultError(.unusable, "the vault's URL begins neither with sqlite: nor postgresql://")
}

private let sqlite = "sqlite:"
