internal import Glibc
internal import SIWACPostgres
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// A connection to a server.
final class PostgresDatabase: Database {
    let postgres: siwa_postgres
    let connection: OpaquePointer
    let timeout: StoreTimeout
    /// Whether a pooler may give the server's connection to other clients after each transaction.
    private var isPooled: Bool
    /// Whether the server did not answer in time, so that a late answer could be mistaken for the
    /// next one.
    private var isAbandoned = false
    /// The names of prepared statements, by their SQL.
    private var statements: [String: String] = [:]
    /// The number of prepared statements; one whose first run failed is prepared again.
    private var prepared = 0

    let dialect = Dialect.postgres

    var shell: String {
        let role = PostgresRole(connection, postgres)
        return "sudo -u postgres psql\(role.portOption) \(role.database.quotedForShell)"
    }

    init(
        _ postgres: siwa_postgres, owning connection: OpaquePointer, _ timeout: StoreTimeout,
        isPooled: Bool
    ) {
        (self.postgres, self.connection, self.timeout) = (postgres, connection, timeout)
        self.isPooled = isPooled
        // Otherwise, libpq would wait without a limit when it writes.
        _ = postgres.call.PQsetnonblocking(connection, 1)
        _ = postgres.call.PQenterPipelineMode(connection)
    }

    deinit {
        if isAbandoned { _ = shutdown(postgres.call.PQsocket(connection), CInt(SHUT_RDWR)) }
        postgres.call.PQfinish(connection)
    }

    /// Sets the session's settings that the store relies on, overriding server and URL. Behind a
    /// pooler, they are set for each transaction.
    func prepare() throws(DatabaseFailure) {
        if !isPooled { isPooled = try isBehindPooler() }
        if !isPooled { try set(forTransaction: false) }
    }

    /// Compares the process id that the client knows with that of the session, which differ behind
    /// a pooler.
    private func isBehindPooler() throws(DatabaseFailure) -> Bool {
        // Uses no named statements until it is known.
        isPooled = true
        let session = try run("SELECT pg_backend_pid()").first?.first?.integer
        return session != Int(postgres.call.PQbackendPID(connection))
    }

    func begin(_ access: Access) throws(DatabaseFailure) {
        do throws(DatabaseFailure) {
            _ = try run(dialect.begin(access))
        } catch {
            // A standby refuses to begin a transaction that writes: "feature not supported".
            if access == .writing, error.error.message.hasSuffix("(0A000)") {
                throw DatabaseFailure(
                    .readOnly,
                    "the PostgreSQL server is a standby, which is read-only: \(error.error.message)"
                )
            }
            guard isPooled, error.isLoss else { throw error }
            // With pool_mode = statement, pgbouncer closes the connection, and libpq reports no
            // reason.
            throw DatabaseFailure(
                error.error.kind,
                "\(error.error.message), at the beginning of a transaction; a pooler in front of it "
                    + "needs pool_mode = transaction or session", error.remedy)
        }
        guard isPooled else { return }
        do throws(DatabaseFailure) {
            try set(forTransaction: true)
        } catch {
            // Every later transaction would be a part of this one, which has failed.
            rollBack()
            throw error
        }
    }

    private func set(forTransaction: Bool) throws(DatabaseFailure) {
        _ = try run(
            forTransaction ? Self.transactionSettings : Self.settings,
            .text("\(Self.lockTimeout(timeout.remaining()))"),
            .text("\(Self.statementTimeout(timeout.remaining()))"))
    }

    /// The server's limit for a statement, in milliseconds: a little longer than siwa waits, so
    /// that siwa reports the timeout and no abandoned statement keeps running.
    static func statementTimeout(_ timeout: Duration) -> Int {
        let milliseconds = Int(clamping: Int64((min(timeout, .seconds(86400)) / .milliseconds(1))))
        return max(0, milliseconds) + 1000
    }

    /// The server's limit for waiting for a lock, in milliseconds: shorter than siwa waits, so that
    /// the server can report the lock.
    static func lockTimeout(_ timeout: Duration) -> Int {
        let milliseconds = Int(clamping: Int64((min(timeout, .seconds(86400)) / .milliseconds(1))))
        return max(1, milliseconds / 2, milliseconds - 500)
    }

    /// The settings: commits are durable; idle transactions are ended, so that a client that hangs
    /// does not block others; every query uses an index, even if the server's statistics are old, and
    /// none is compiled or shared among processes: for a page of a large vault the server would expect
    /// a million rows, and spend a second on that.
    /// A policy of row security is an error, not a vault with fewer records.
    /// If the database does not check encodings, texts are not converted, because one text that is
    /// not UTF-8 would make a whole query fail.
    private static func settings(isLocal: Bool) -> String {
        """
        SELECT set_config('lock_timeout', $1, \(isLocal)),
            set_config('statement_timeout', $2, \(isLocal)),
            set_config('idle_in_transaction_session_timeout', '60s', \(isLocal)),
            CASE WHEN current_setting('synchronous_commit') = 'off'
                THEN set_config('synchronous_commit', 'on', \(isLocal)) END,
            CASE WHEN current_setting('server_encoding') = 'SQL_ASCII'
                THEN set_config('client_encoding', 'SQL_ASCII', \(isLocal)) END,
            set_config('enable_seqscan', 'off', \(isLocal)),
            set_config('enable_hashjoin', 'off', \(isLocal)),
            set_config('enable_mergejoin', 'off', \(isLocal)),
            set_config('enable_bitmapscan', 'off', \(isLocal)),
            set_config('enable_sort', 'off', \(isLocal)),
            set_config('jit', 'off', \(isLocal)),
            set_config('row_security', 'off', \(isLocal)),
            set_config('max_parallel_workers_per_gather', '0', \(isLocal))
        """
    }

    private static let settings = settings(isLocal: false)
    private static let transactionSettings = settings(isLocal: true)

    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]] {
        try run(sql, each: [values]).first ?? []
    }

    /// The most statements that are sent before their answers are read, so that the buffers of both
    /// sides do not fill up.
    private static let most = 64

    func run(_ sql: String, each lists: [[Value]]) throws(DatabaseFailure) -> [[[Value]]] {
        var answers: [[[Value]]] = []
        var rest = lists[...]
        while !rest.isEmpty {
            answers += try runTogether(sql, rest.prefix(Self.most))
            rest = rest.dropFirst(Self.most)
        }
        return answers
    }

    private func runTogether(
        _ sql: String, _ lists: ArraySlice<[Value]>
    ) throws(DatabaseFailure) -> [[[Value]]] {
        let known = statements[sql]
        // An unnamed statement does not outlast the transaction.
        let name = known ?? (isPooled ? "" : "siwa\(prepared)")
        if known == nil {
            prepared += 1
            try sent(postgres.call.PQsendPrepare(connection, name, sql, 0, nil))
        }
        for values in lists {
            try sent(PostgresParameters(values).send(name, on: connection, postgres))
        }
        try sent(postgres.call.PQpipelineSync(connection))
        guard known == nil else { return try collect(lists.count) }
        let answers = try collect(1 + lists.count)
        if !isPooled { statements[sql] = name }
        return Array(answers.dropFirst())
    }

    func sent(_ result: CInt) throws(DatabaseFailure) {
        guard result != 1 else { return }
        throw lost()
    }

    /// Reads all answers, even after a failure, and throws the first failure.
    ///
    /// - Parameter count: the number of statements that were sent.
    private func collect(_ count: Int) throws(DatabaseFailure) -> [[[Value]]] {
        var answers: [[[Value]]] = []
        var failure: DatabaseFailure?
        // Each statement has one answer, followed by one for the pipeline. On a broken connection,
        // libpq would return answers forever.
        let limit = WaitLimit(timeout)
        for _ in 0...(2 * count) {
            try awaitResult(limit)
            guard let result = PostgresResult(postgres, postgres.call.PQgetResult(connection))
            else {
                continue
            }
            switch result.status {
            case PGRES_PIPELINE_SYNC:
                if let failure { throw failure }
                return answers
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: answers.append(result.rows)
            case PGRES_PIPELINE_ABORTED: break
            default: failure = failure ?? self.failure(result)
            }
        }
        throw lost()
    }

    /// Waits until `PQgetResult` does not block.
    func awaitResult(_ limit: WaitLimit) throws(DatabaseFailure) {
        try wait(limit) { postgres.call.PQisBusy(connection) == 1 }
    }

    /// Sends and receives until the time limit.
    func wait(
        _ limit: WaitLimit, while isWaiting: () -> Bool
    ) throws(DatabaseFailure) {
        while isWaiting() {
            let events = postgres.call.PQflush(connection) == 1 ? POLLIN | POLLOUT : POLLIN
            let slice = limit.slice
            let isReady = isSocketReady(
                postgres.call.PQsocket(connection), for: events, within: slice)
            guard isReady || slice > 0 else {
                isAbandoned = true
                throw DatabaseFailure(
                    .unreachable,
                    "the PostgreSQL server did not answer within \(limit.elapsed.measured)",
                    .disconnection)
            }
            // Also after a slice without an event, because TLS may have buffered bytes that poll
            // does not report.
            guard postgres.call.PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    func failure(_ result: borrowing PostgresResult) -> DatabaseFailure {
        guard let state = result.state, postgres.call.PQstatus(connection) == CONNECTION_OK else {
            return lost()
        }
        let error = StoreError(
            state.kind, "\(state.explanation): \(result.message) (\(state.code))",
            remedy: state.advice(
                to: PostgresRole(connection, postgres), about: result.message))
        return DatabaseFailure(error, state.remedy)
    }

    func lost() -> DatabaseFailure {
        let words = postgres.call.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        return DatabaseFailure(
            .unreachable, "the connection broke: \(ConnectionRefusal(words).message)",
            .reconnection)
    }

    func rollBack() {
        // If the connection is lost, the server rolls back.
        guard !isAbandoned, postgres.call.PQstatus(connection) == CONNECTION_OK else { return }
        _ = try? run("ROLLBACK")
    }

    func faults(of tables: [String]) throws(DatabaseFailure) -> [String] {
        let sql = """
            SELECT indexrelid::regclass::text FROM pg_index
            WHERE indrelid IN (\(tables.map { "'\($0)'::regclass" }.joined(separator: ", ")))
                AND NOT indisvalid
            """
        return try run(sql).compactMap { $0.first?.text }.map { "the index \($0) is not valid" }
    }
}
