internal import SIWACPostgres
internal import SIWALifecycle

/// libpq, loaded when it is first used and never unloaded.
enum PostgresLibrary {
    /// Its functions; those for pipelines require libpq 14.
    static let functions = Result { () throws(StoreError) in
        var functions = siwa_postgres()
        guard siwa_postgres_load(&functions) else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw StoreError(
                .unavailable,
                "PostgreSQL's library cannot be loaded: \(reason); Debian's package: libpq5")
        }
        return functions
    }
}
