internal import SIWACSQLite
internal import SIWALifecycle
internal import SIWASystem

/// A connection to a file.
final class SQLiteDatabase: Database {
    private let sqlite: siwa_sqlite
    private let path: String
    private let file: OpenSQLiteFile
    private let connection: OpaquePointer
    private let waiting: SQLiteWaiting
    private var statements: [String: SQLiteStatement] = [:]
    private var isReadyToWrite = false
    private var usesLog = false

    let dialect = Dialect.sqlite
    var shell: String { "sudo -u siwa sqlite3 \(path.quotedForShell)" }

    init(_ sqlite: siwa_sqlite, _ path: String, _ timeout: StoreTimeout) throws(DatabaseFailure) {
        file = try OpenSQLiteFile(path)
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // SQLite gives names such as ":memory:" another meaning.
        let file = path.hasPrefix("/") ? path : "./\(path)"
        let code = sqlite.call.sqlite3_open_v2(file, &connection, flags, nil)
        guard code == SQLITE_OK, let connection else {
            defer { _ = sqlite.call.sqlite3_close_v2(connection) }
            throw sqlite.failure(code, connection, path)
        }
        (self.sqlite, self.path, self.connection) = (sqlite, path, connection)
        waiting = SQLiteWaiting(timeout)
        waiting.install(on: connection, sqlite)
        _ = try run("PRAGMA foreign_keys = ON")
        _ = try run("PRAGMA synchronous = FULL")
        // Users are stored in random order. A cache for the indexes of a million users, and a log
        // that combines changes of a page, reduce the writes to a fraction.
        _ = try run("PRAGMA cache_size = -16384")
        _ = try run("PRAGMA wal_autocheckpoint = 8192")
    }

    deinit {
        statements = [:]
        // SQLite removes the log by its name, which may be another file's by now.
        if (try? file.requireLog()) == nil { _ = siwa_keep_log(sqlite, connection) }
        if usesLog { file.stopUsingLog() }
        _ = sqlite.call.sqlite3_close_v2(connection)
    }

    /// Enables the write-ahead log, so that readers do not wait; the file keeps the setting.
    func startLog() throws(DatabaseFailure) {
        guard try run("PRAGMA journal_mode = WAL") == [[.text("wal")]] else {
            throw DatabaseFailure(
                .unusable,
                "'\(path)': its file system cannot share memory, which SQLite's WAL needs")
        }
    }

    /// A copy that SQLite made (`VACUUM INTO`, `.backup`) has no write-ahead log. That another program
    /// reads the file just now is no reason to write nothing.
    func prepareToWrite() {
        guard !isReadyToWrite else { return }
        isReadyToWrite = true
        try? startLog()
    }

    /// What is written to a file that no longer has its name is on disk, and nobody finds it. SQLite
    /// itself begins to write a file that cannot be written.
    func begin(_ access: Access) throws(DatabaseFailure) {
        var hasMoved: CInt = 0
        let code = sqlite.call.sqlite3_file_control(
            connection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        if code == SQLITE_OK, hasMoved != 0 {
            try requireFileAccess(to: path)
            throw DatabaseFailure(
                StoreError(
                    .unusable, "'\(path)' was deleted, moved or replaced while it was open",
                    remedy: replacedFileRemedy))
        }
        try file.requireLog()
        if access == .writing, sqlite.call.sqlite3_db_readonly(connection, "main") == 1 {
            try requireFileAccess(to: path)
        }
        // The answer is that of this connection, which opens the log of the file when it first reads it.
        if !usesLog, try run("PRAGMA journal_mode") == [[.text("wal")]] {
            usesLog = true
            file.useLog()
        }
        _ = try run(dialect.begin(access))
    }

    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]] {
        try run(try prepared(sql), values)
    }

    func run(_ sql: String, each lists: [[Value]]) throws(DatabaseFailure) -> [[[Value]]] {
        guard !lists.isEmpty else { return [] }
        let statement = try prepared(sql)
        var answers: [[[Value]]] = []
        answers.reserveCapacity(lists.count)
        for values in lists { answers.append(try run(statement, values)) }
        return answers
    }

    private func run(
        _ statement: SQLiteStatement, _ values: [Value]
    ) throws(DatabaseFailure) -> [[Value]] {
        waiting.begin()
        defer { statement.reset() }
        statement.bind(values)
        var rows: [[Value]] = []
        while true {
            switch statement.step() {
            case SQLITE_ROW: rows.append(statement.row())
            case SQLITE_DONE: return rows
            case let code: throw sqlite.failure(code, connection, path)
            }
        }
    }

    private func prepared(_ sql: String) throws(DatabaseFailure) -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        var pointer: OpaquePointer?
        let code = sqlite.call.sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw sqlite.failure(code, connection, path)
        }
        let statement = SQLiteStatement(sqlite, owning: pointer)
        statements[sql] = statement
        return statement
    }

    func rollBack() {
        // Some failures, such as a full disk, have rolled back already.
        guard sqlite.call.sqlite3_get_autocommit(connection) == 0 else { return }
        _ = try? waiting.withoutEnd { () throws(DatabaseFailure) in try run("ROLLBACK") }
    }

    func faults(of tables: [String]) throws(DatabaseFailure) -> [String] {
        // It reads the whole file without waiting for locks, so its time is not limited.
        let words = try waiting.withoutEnd { () throws(DatabaseFailure) in
            try run("PRAGMA integrity_check").compactMap { $0.first?.text }
        }
        let strays = try run("PRAGMA foreign_key_check").compactMap { $0.first?.text }
        return words.filter { $0 != "ok" }.map { "'\(path)': \($0)" }
            + strays.map { "'\(path)': a row of \($0) refers to one that is missing" }
    }
}
