internal import SIWACSQLite
internal import SIWALifecycle
internal import Synchronization

/// SQLite, loaded when it is first used and never unloaded.
enum SQLiteLibrary {
    /// The functions of libsqlite3, loaded when they are first used.
    static let functions = Result { () throws(StoreError) in
        var isLoaded = false
        let sqlite = siwa_sqlite_load(&isLoaded)
        guard isLoaded else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw StoreError(
                .unavailable, "SQLite cannot be loaded: \(reason); Debian's package: libsqlite3-0")
        }
        guard sqlite.call.sqlite3_libversion_number() >= 3_037_000 else {
            throw StoreError(.unavailable, "SQLite is older than 3.37, which has no STRICT tables")
        }
        if omitsStatistics.load(ordering: .relaxed) { _ = siwa_omit_statistics(sqlite) }
        return sqlite
    }

    fileprivate static let omitsStatistics = Atomic(false)
}

/// Lets SQLite keep no statistics of its memory, which nobody reads here and which would lock a
/// mutex at each allocation. For programs, before they open a database: the setting is the
/// process's, so a library leaves it to its application.
package func omitSQLiteStatistics() {
    SQLiteLibrary.omitsStatistics.store(true, ordering: .relaxed)
}

extension siwa_sqlite {
    /// The functions.
    var call: siwa_sqlite_functions {
        @inline(__always) get { functions.pointee }
    }
}
