package import SIWALifecycle

/// Finds the database that a URL names: `sqlite:PATH` for a file, or `postgresql://…`, in libpq's
/// format, for a database on a server.
///
/// - Parameter isPooled: leaves nothing in a PostgreSQL session that outlasts a transaction.
package func connector(
    of url: String, timeout: StoreTimeout, isPooled: Bool = false
) throws(StoreError) -> any DatabaseConnector {
    if url.hasPrefix(sqlite) {
        let path = String(url.dropFirst(sqlite.count))
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.unusable, "the vault's URL has no path after \(sqlite)")
        }
        return SQLiteConnector(path: path, timeout: timeout)
    }
    if ["postgresql://", "postgres://"].contains(where: url.hasPrefix), !url.utf8.contains(0) {
        return PostgresConnector(url: url, timeout: timeout, isPooled: isPooled)
    }
    throw StoreError(.unusable, "the vault's URL begins neither with sqlite: nor postgresql://")
}

private let sqlite = "sqlite:"
