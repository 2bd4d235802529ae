package import Lifecycle

/// A vault's place, by its URL: `sqlite:PATH`, a file, or `postgresql://…`, a database on a
/// server, as libpq understands it. Its library is loaded, and the file or the server touched,
/// by the first call of the store; the connection is kept until the store is let go.
///
/// A store does one transaction at a time; what ``VaultStore/change(_:releasing:_:)`` and
/// ``VaultStore/claim(_:limit:for:_:)`` ask their callers may be asked again, when the
/// connection broke or another transaction came first. They must not call the store.
///
/// - Parameters:
///   - url: the place.
///   - timeout: how long the database may keep a call waiting. Where it runs out, the call throws
///     ``VaultError`` of kind `busy` when others hold what it needs, else `unreachable`.
/// - Throws: ``VaultError`` of kind `unusable` for any other URL. No message shows it: it may hold
///   a password.
package func openVaultStore(
    _ url: String, timeout: VaultTimeout
) throws(VaultError) -> any VaultStore {
    SQLVaultStore(try connector(of: url, timeout: timeout))
}

/// Finds the database that a URL names.
///
/// - Parameter isPooled: leave nothing in a session of PostgreSQL's that outlasts a transaction.
func connector(
    of url: String, timeout: VaultTimeout, isPooled: Bool = false
) throws(VaultError) -> any DatabaseConnector {
    if url.hasPrefix(sqlite) {
        let path = String(url.dropFirst(sqlite.count))
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw VaultError(.unusable, "the vault's URL has no path behind \(sqlite)")
        }
        return SQLiteConnector(path: path, timeout: timeout)
    }
    if ["postgresql://", "postgres://"].contains(where: url.hasPrefix), !url.utf8.contains(0) {
        return PostgresConnector(url: url, timeout: timeout, isPooled: isPooled)
    }
    throw VaultError(.unusable, "the vault's URL begins neither with sqlite: nor postgresql://")
}

private let sqlite = "sqlite:"
