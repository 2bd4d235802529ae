internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// Reading the outbox.
extension Database {
    func revocation(_ id: String) throws(DatabaseFailure) -> RevocationStatus? {
        let sql = "SELECT \(Self.requestColumns) FROM revocation WHERE revocation_id = $1"
        guard let row = try run(sql, .text(id)).first else { return nil }
        let jobs = try jobRows(of: row[0])
        do throws(DamagedColumn) {
            return try RevocationStatus(row, jobs)
        } catch {
            throw DatabaseFailure(StoreError(damagedRequest: row[1], error.reason))
        }
    }

    /// Requests, the newest first.
    func revocations(
        _ filter: RevocationFilter, before number: Int?, _ limit: Int
    ) throws(DatabaseFailure) -> RevocationPage {
        var conditions = Conditions()
        if let number { conditions.add("id <", .integer(number)) }
        if let userID = filter.userID { conditions.add("user_id =", .text(userID.rawValue)) }
        if !filter.states.isEmpty {
            let states = filter.states.map { conditions.add(.text($0.rawValue)) }
            conditions.add("state IN (\(states.joined(separator: ", ")))")
        }
        let sql = """
            SELECT \(Self.requestColumns) FROM revocation \(conditions.sql)
            ORDER BY id DESC LIMIT \(conditions.add(.integer(limit)))
            """
        var page = RevocationPage()
        for row in try run(sql, conditions.values) {
            page.next = row[0].integer
            let jobs = try jobRows(of: row[0])
            do throws(DamagedColumn) {
                page.revocations.append(try RevocationStatus(row, jobs))
            } catch {
                page.damaged.append(StoreError(damagedRequest: row[1], error.reason))
            }
        }
        return page
    }

    private static var requestColumns: String {
        "id, revocation_id, client_id, user_id, requested_at, state, ended_at"
    }

    private func jobRows(of request: Value) throws(DatabaseFailure) -> [[Value]] {
        try run(
            """
            SELECT \(RevocationJob.columns) FROM revocation_job
            WHERE id IN (SELECT job FROM revocation_part WHERE revocation = $1) ORDER BY id
            """, request)
    }
}

extension RevocationStatus {
    fileprivate init(_ row: [Value], _ jobRows: [[Value]]) throws(DamagedColumn) {
        var row = CheckedRow(Array(row.dropFirst()))
        let request = RevocationRequest(
            id: try row.text("id"), clientID: try row.optionalClientID(),
            userID: try row.optionalUserID(), requestedAt: try row.date("requested_at"))
        let state: RevocationJob.State = try row.known("state")
        var jobs: [RevocationJob] = []
        for job in jobRows { jobs.append(try RevocationJob(job)) }
        self.init(request, state: state, endedAt: try row.optionalDate("ended_at"), jobs: jobs)
    }
}

// A job as a row of `revocation_job`.
extension RevocationJob {
    /// The columns that are written, in the order of ``values``.
    static let writtenColumns = """
        client_id, user_id, token_fingerprint, kind, proof, state, was_active, http_status, \
        apple_request_id, evidence, refresh_status, attempts, ended_at, last_error, key_number, \
        sealed, is_unusual, last_error_code
        """

    /// The columns that are read.
    static let columns = "id, \(writtenColumns), created_at, due_at"

    var values: [Value] {
        [
            .text(clientID.rawValue), Value(userID?.rawValue), .text(fingerprint.rawValue),
            .text(kind.rawValue), .text(proof.rawValue), .text(state.rawValue),
            Value(progress.wasActive.map { $0 ? 1 : 0 }), Value(progress.status),
            Value(progress.requestID), Value(progress.evidence?.rawValue),
            Value(progress.refreshStatus), .integer(attempts), Value(endedAt?.seconds),
            Value(lastError?.message), Value(secret?.keyNumber),
            secret.map { .bytes($0.bytes) } ?? .null,
            .integer(isUnusual ? 1 : 0), Value(lastError?.code),
        ]
    }

    init(_ row: [Value]) throws(DamagedColumn) {
        var row = CheckedRow(row)
        let number = try row.integer("number", in: .positions)
        let clientID = try row.clientID()
        let userID = try row.optionalUserID()
        let fingerprint = try row.fingerprint()
        let kind: Kind = try row.known("kind")
        let proof: Revocation.Proof = try row.known("proof")
        let state: State = try row.known("state")
        let progress = try Revocation(&row)
        let attempts = try row.integer("attempts", in: .attempts)
        let endedAt = try row.optionalDate("ended_at")
        let message = try row.optionalText("last_error")
        let secret = try row.optionalSecret()
        let isUnusual = try row.integer("is_unusual", in: 0...1) == 1
        let code = try row.optionalText("last_error_code")
        guard (code == nil) == (message == nil) else {
            throw DamagedColumn("it has a last_error without a last_error_code, or the reverse")
        }
        self.init(
            number: number, clientID: clientID, userID: userID, fingerprint: fingerprint,
            kind: kind, proof: proof, state: state, progress: progress, attempts: attempts,
            createdAt: try row.date("created_at"),
            nextAttemptAt: try row.optionalMoment("due_at"), endedAt: endedAt,
            lastError: code.map { Failure($0, message ?? "") }, isUnusual: isUnusual, secret: secret
        )
    }
}

extension Revocation {
    fileprivate init(_ row: inout CheckedRow) throws(DamagedColumn) {
        self.init()
        wasActive = try row.optionalInteger("was_active", in: 0...1).map { $0 == 1 }
        status = try row.optionalInteger("http_status", in: .statuses)
        requestID = try row.optionalText("apple_request_id")
        evidence = try row.optionalKnown("evidence")
        refreshStatus = try row.optionalInteger("refresh_status", in: .statuses)
    }
}

extension StoreError {
    /// A row of the outbox that siwa-server cannot have written.
    init(damagedJob number: Value, _ reason: String) {
        self.init(
            .recordDamaged, "job \(number.integer ?? 0) of the outbox is damaged: \(reason)")
    }

    /// A request of the outbox that siwa-server cannot have written.
    init(damagedRequest id: Value, _ reason: String) {
        self.init(
            .recordDamaged, "revocation '\(escaped(id.textBytes))' is damaged: \(reason)")
    }
}
