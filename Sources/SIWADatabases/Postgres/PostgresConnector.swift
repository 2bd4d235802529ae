internal import Glibc
internal import SIWACPostgres
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// A database on a server that has, or will have, a vault.
struct PostgresConnector: DatabaseConnector {
    private let url: String
    private let timeout: StoreTimeout
    private let isPooled: Bool

    /// - Parameter isPooled: whether a pooler may be in front of the server, so that nothing may be
    ///   left in a session.
    init(url: String, timeout: StoreTimeout, isPooled: Bool) {
        (self.url, self.timeout, self.isPooled) = (url, timeout, isPooled)
    }

    let name = "the PostgreSQL database"

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        let postgres = try lifting { () throws(StoreError) in try PostgresLibrary.functions.get() }
        let url = try PostgresURL(url, postgres)
        let settings = try PostgresSettings(url, postgres)
        let attempt = PostgresAttempt(
            postgres: postgres, url: url,
            protection: PostgresProtection(settings, .find()),
            limit: WaitLimit(timeout, longest: .seconds(url.connectTimeout)))
        let connection =
            try settings.needsNameServer ? attempt.connectOnAnotherThread() : attempt.connect()
        let database = PostgresDatabase(postgres, owning: connection, timeout, isPooled: isPooled)
        try database.prepare()
        return database
    }

    func weaknesses() throws(DatabaseFailure) -> [StoreWeakness] {
        let postgres = try lifting { () throws(StoreError) in try PostgresLibrary.functions.get() }
        let settings = try PostgresSettings(try PostgresURL(url, postgres), postgres)
        let weakness = PostgresProtection(settings, .find()).weakness
        return weakness.map { [StoreWeakness($0, setBy: settings.modePlace)] } ?? []
    }
}

/// One attempt to connect to a server.
struct PostgresAttempt: Sendable {
    let postgres: siwa_postgres
    let url: PostgresURL
    let protection: PostgresProtection
    let limit: WaitLimit

    /// Connects asynchronously, because libpq reports the server's error code only in this way.
    func connect() throws(DatabaseFailure) -> OpaquePointer {
        guard let connection = postgres.start(parameters) else {
            throw DatabaseFailure(.unusable, "PostgreSQL's library has no memory")
        }
        _ = postgres.call.PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        _ = postgres.call.PQsetNoticeReceiver(connection, { _, _ in }, nil)
        do throws(DatabaseFailure) {
            try finish(connection)
            return connection
        } catch {
            postgres.call.PQfinish(connection)
            throw error
        }
    }

    // The parameters before `dbname`, the URL, are defaults. The keep-alive settings detect a dead
    // network within half a minute.
    private var parameters: [(keyword: String, value: String)] {
        [
            ("fallback_application_name", "siwa"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "4"), ("tcp_user_timeout", "30000"),
            ("dbname", url.text), ("client_encoding", "UTF8"),
        ] + (protection.mode.map { [("sslmode", $0)] } ?? [])
            + (protection.rootCertificate.map { [("sslrootcert", $0)] } ?? [])
    }

    private func finish(_ connection: OpaquePointer) throws(DatabaseFailure) {
        var next = PGRES_POLLING_WRITING
        var status = postgres.call.PQstatus(connection)
        if status == CONNECTION_BAD { next = PGRES_POLLING_FAILED }
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED else {
                throw refusal(connection, isAboutTLS: status == CONNECTION_SSL_STARTUP)
            }
            let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
            let slice = limit.slice
            if isSocketReady(postgres.call.PQsocket(connection), for: events, within: slice) {
                status = postgres.call.PQstatus(connection)
                next = postgres.call.PQconnectPoll(connection)
            } else if slice == 0 {
                throw late
            }
        }
    }

    /// The error if the server or the name server did not answer in time.
    var late: DatabaseFailure {
        DatabaseFailure(
            .unreachable,
            "the PostgreSQL server did not answer within \(limit.elapsed.measured)",
            .disconnection)
    }

    private func refusal(_ connection: OpaquePointer, isAboutTLS: Bool) -> DatabaseFailure {
        let words = postgres.call.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        let refusal = ConnectionRefusal(words)
        let needsPassword = postgres.call.PQconnectionNeedsPassword(connection) == 1
        let kind = refusal.kind(needsPassword: needsPassword)
        if refusal.state == nil, let remedy = limitRemedy(in: refusal.message) {
            return DatabaseFailure(StoreError(.full, refusal.message, remedy: remedy))
        }
        let role = PostgresRole(connection, postgres)
        if !isAboutTLS,
            let remedy = refusal.remedy(for: role, needsPassword: needsPassword)
        {
            return DatabaseFailure(StoreError(kind, refusal.message, remedy: remedy))
        }
        guard isAboutTLS, kind == .unusable else { return DatabaseFailure(kind, refusal.message) }
        return DatabaseFailure(.untrusted, refusal.message)
    }
}

/// The remedy if a message of libpq ends with the system's words for a limit of this process.
private func limitRemedy(in message: String) -> String? {
    [EMFILE, ENFILE].first { message.hasSuffix(String(cString: strerror($0))) }
        .flatMap(systemLimitRemedy)
}

extension siwa_postgres {
    /// Begins a connection; nil if memory is exhausted.
    func start(_ parameters: [(keyword: String, value: String)]) -> OpaquePointer? {
        withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in
                call.PQconnectStartParams(keywords, values, 1)
            }
        }
    }
}

/// Lends texts to C as a null-terminated array.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
}
