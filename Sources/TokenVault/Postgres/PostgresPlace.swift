internal import CPostgres
internal import Glibc
internal import SignInWithApple

/// A database on a server that is, or is to be, a vault.
struct PostgresPlace: DatabasePlace {
    private let url: String
    /// How long others may hold what a call needs.
    private let patience: Duration

    init(url: String, patience: Duration) { (self.url, self.patience) = (url, patience) }

    let name = "the PostgreSQL database"

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        let postgres = try lifting { () throws(VaultError) in try PostgresLibrary.functions.get() }
        let url = try PostgresURL(url, postgres)
        let connection = try open(url, postgres)
        let database = PostgresDatabase(postgres, owning: connection)
        try database.prepare(patience)
        return database
    }

    /// Connects in steps, because only so libpq tells the server's code for a refusal.
    private func open(
        _ url: PostgresURL, _ postgres: siwa_postgres
    ) throws(DatabaseFailure) -> OpaquePointer {
        let connection = withCStrings(Self.keywords) { keywords in
            withCStrings(Self.values(url)) { values in
                postgres.PQconnectStartParams(keywords, values, 1)
            }
        }
        guard let connection else {
            throw DatabaseFailure(.unusable, "PostgreSQL's library has no memory")
        }
        _ = postgres.PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        _ = postgres.PQsetNoticeReceiver(connection, { _, _ in }, nil)
        do throws(DatabaseFailure) {
            try finish(connection, postgres, within: .seconds(url.connectTimeout))
            return connection
        } catch {
            postgres.PQfinish(connection)
            throw error
        }
    }

    // What stands before `dbname`, the URL, is what it says unless it says otherwise. A network
    // that swallows everything is noticed in half a minute.
    private static let keywords: [String] = [
        "fallback_application_name", "keepalives_idle", "keepalives_interval", "keepalives_count",
        "tcp_user_timeout", "dbname", "client_encoding",
    ]

    private static func values(_ url: PostgresURL) -> [String] {
        ["siwa", "10", "5", "4", "30000", url.text, "UTF8"]
    }

    private func finish(
        _ connection: OpaquePointer, _ postgres: siwa_postgres, within limit: Duration
    ) throws(DatabaseFailure) {
        let end = ContinuousClock.now + limit
        var next = PGRES_POLLING_WRITING
        if postgres.PQstatus(connection) == CONNECTION_BAD { next = PGRES_POLLING_FAILED }
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED else { throw refusal(connection, postgres) }
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else {
                throw DatabaseFailure(
                    .unreachable, "\(name): the server did not answer within \(limit)")
            }
            let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
            var wait = pollfd(
                fd: postgres.PQsocket(connection), events: Int16(events), revents: 0)
            if poll(&wait, 1, CInt(left.rounded(.up))) > 0 {
                next = postgres.PQconnectPoll(connection)
            }
        }
    }

    private func refusal(_ connection: OpaquePointer, _ postgres: siwa_postgres) -> DatabaseFailure
    {
        let words = postgres.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        let refusal = ConnectionRefusal(words)
        let needsPassword = postgres.PQconnectionNeedsPassword(connection) == 1
        return DatabaseFailure(refusal.kind(needsPassword: needsPassword), refusal.message)
    }
}

/// Lends texts to C, and a null pointer behind them.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
}
