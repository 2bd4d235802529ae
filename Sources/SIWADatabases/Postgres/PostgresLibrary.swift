internal import SIWACPostgres
internal import SIWALifecycle

/// libpq, loaded when it is first used and never unloaded.
enum PostgresLibrary {
    /// Its functions; those for pipelines require libpq 14.
    static let functions = Result { () throws(StoreError) in
        var isLoaded = false
        let postgres = siwa_postgres_load(&isLoaded)
        guard isLoaded else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw StoreError(
                .unavailable,
                "PostgreSQL's library cannot be loaded: \(reason); Debian's package: libpq5")
        }
        return postgres
    }
}

extension siwa_postgres {
    /// The functions.
    var call: siwa_postgres_functions {
        @inline(__always) get { functions.pointee }
    }
}
