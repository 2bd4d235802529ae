internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// Requests to revoke and their jobs, within a writing transaction. A leased job is due when its
// lease ends.
extension Database {
    /// Adds a request and its jobs. It shares a pending job for the same token.
    func add(
        _ request: RevocationRequest, _ jobs: [RevocationJob], _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        let inserted = try run(
            """
            INSERT INTO revocation (revocation_id, client_id, user_id, requested_at, state)
            VALUES ($1, $2, $3, $4, 'pending') RETURNING id
            """,
            [
                .text(request.id), Value(request.clientID?.rawValue),
                Value(request.userID?.rawValue), .integer(request.requestedAt.seconds),
            ])
        guard let id = inserted.first?.first else {
            throw DatabaseFailure(.damaged, "the outbox did not number a request")
        }
        counts.add(1, RevocationJob.State.pending)
        counts.add(1, .requested)
        let inOrder = jobs.sorted {
            ($0.clientID.rawValue, $0.fingerprint) < ($1.clientID.rawValue, $1.fingerprint)
        }
        for job in inOrder {
            let number =
                if let shared = try shared(job) {
                    shared
                } else if let dead = try deadForWantOfProfile(job) { dead } else { try insert(job) }
            _ = try run(
                "INSERT INTO revocation_part (revocation, job) VALUES ($1, $2)", id, number)
        }
        try settle([id], .off, &counts)
    }

    /// The number of another pending job for the same token, which gets the stronger proof of both.
    /// If they are encrypted with different keys, it gets this job's token, because the key of the
    /// other may be missing.
    private func shared(_ job: RevocationJob) throws(DatabaseFailure) -> Value? {
        let rows = try run(
            """
            SELECT \(RevocationJob.columns) FROM revocation_job
            WHERE client_id = $1 AND token_fingerprint = $2 AND state = 'pending' AND id <> $3
            \(dialect.lockingRows)
            """, .text(job.clientID.rawValue), .text(job.fingerprint.rawValue),
            .integer(job.number))
        guard let row = rows.first else { return nil }
        guard var known = try? RevocationJob(row) else { return row[0] }
        known.join(job.proof)
        _ = try run(
            """
            UPDATE revocation_job SET proof = $2, user_id = COALESCE(user_id, $3) WHERE id = $1
            """, row[0], .text(known.proof.rawValue), Value(job.userID?.rawValue))
        if known.kind == job.kind, let new = job.secret, new.keyNumber != known.secret?.keyNumber {
            _ = try run(
                """
                UPDATE revocation_job SET key_number = $2, sealed = $3,
                    due_at = CASE WHEN lease_owner IS NULL THEN \(dialect.moment) ELSE due_at END
                WHERE id = $1
                """, row[0], .integer(new.keyNumber), .bytes(new.bytes))
        }
        return row[0]
    }

    /// The number of the token's last job, if the job waits for a profile and that one was given up
    /// while it waited for one: a repeated request does not begin another 30 days.
    private func deadForWantOfProfile(_ job: RevocationJob) throws(DatabaseFailure) -> Value? {
        guard job.waitsForProfile, let userID = job.userID else { return nil }
        let rows = try run(
            """
            SELECT \(RevocationJob.columns) FROM revocation_job
            WHERE user_id = $1 AND client_id = $2 AND token_fingerprint = $3
            ORDER BY id DESC LIMIT 1
            """, .text(userID.rawValue), .text(job.clientID.rawValue),
            .text(job.fingerprint.rawValue))
        guard let row = rows.first, let last = try? RevocationJob(row), last.state == .dead,
            last.waitsForProfile
        else { return nil }
        return row[0]
    }

    /// If another process adds one for the same token at the same time, this fails and is repeated.
    private func insert(_ job: RevocationJob) throws(DatabaseFailure) -> Value {
        let sql = """
            INSERT INTO revocation_job (\(RevocationJob.writtenColumns), created_at, due_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                $18, $19, CASE WHEN $6 = 'pending' THEN \(dialect.moment) END)
            RETURNING id
            """
        guard
            let id = try run(sql, job.values + [.integer(job.createdAt.seconds)]).first?.first
        else { throw DatabaseFailure(.damaged, "the outbox did not number a job") }
        return id
    }

    /// Ends requests whose jobs have all ended. If several processes end jobs of a request at the
    /// same time, the last one to lock it sees the changes of the others.
    ///
    /// - Parameter events: what happens to the events of those that were promised to their callers.
    func settle(
        _ requests: [Value], _ events: RevocationEvents, _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        var promised: [String] = []
        for id in requests {
            _ = try run("SELECT 1 FROM revocation WHERE id = $1 \(dialect.lockingRows)", id)
            let states = try run(
                """
                SELECT state FROM revocation_job
                WHERE id IN (SELECT job FROM revocation_part WHERE revocation = $1)
                """, id
            ).map { $0.first?.text.flatMap(RevocationJob.State.init) ?? .dead }
            let state = RevocationJob.State.of(states)
            guard state != .pending else { continue }
            let ended = try run(
                """
                UPDATE revocation SET state = $2, ended_at = \(dialect.now)
                WHERE id = $1 AND state = 'pending' RETURNING revocation_id, answered_202
                """, id, .text(state.rawValue))
            guard let row = ended.first else { continue }
            counts.add(-1, RevocationJob.State.pending)
            counts.add(1, state)
            counts.add(1, state == .revoked ? .revoked : .unrevoked)
            if row[1].integer == 1, let id = row[0].text { promised.append(id) }
        }
        if events != .off { try announce(promised, events, &counts) }
    }

    /// Adds the ends of requests to the inbox. They hold back no event of their users.
    private func announce(
        _ ids: [String], _ events: RevocationEvents, _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        var ended: [InboxEvent] = []
        for id in ids {
            do throws(DatabaseFailure) {
                guard let event = try revocation(id).flatMap({ InboxEvent(endOf: $0) }) else {
                    continue
                }
                ended.append(event)
            } catch {
                // A damaged row must not prevent the end of a job.
                guard error.error.kind == .recordDamaged else { throw error }
            }
        }
        // The end of a request that was made again was announced before.
        try announce(ended, events, &counts)
    }

    /// Notes that a pending request was answered before its end.
    func promise(_ id: String) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE revocation SET answered_202 = 1 WHERE revocation_id = $1 AND state = 'pending'
            """, .text(id))
    }

    /// Makes the jobs of clients due that waited for a profile.
    func resumeRevocations(of clients: [ClientID]) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE revocation_job SET due_at = \(dialect.moment), last_error = NULL,
                last_error_code = NULL
            WHERE state = 'pending' AND lease_owner IS NULL AND client_id = $1
                AND last_error_code = $2
            """,
            each: clients.map {
                [.text($0.rawValue), .text(RevocationJob.clientWithoutProfile)]
            })
    }

    /// The clients of pending jobs that wait for a profile.
    func clientsWithoutProfile() throws(DatabaseFailure) -> [ClientID] {
        let rows = try run(
            """
            SELECT DISTINCT client_id FROM revocation_job
            WHERE state = 'pending' AND last_error_code = $1
            """, .text(RevocationJob.clientWithoutProfile))
        return rows.compactMap { $0[0].text.flatMap { try? ClientID(validating: $0) } }
    }

    /// Writes a job that its owner still holds. A job whose code was exchanged keeps its token: it
    /// is not overwritten by an attempt that only has the code. It ends if another job has the
    /// token.
    func note(
        _ job: RevocationJob, _ delay: Duration?, by owner: String, _ events: RevocationEvents
    ) throws(DatabaseFailure) -> Bool {
        // Everyone who adds events locks it before requests and jobs.
        if job.state != .pending, events != .off { try lockPosition() }
        guard try !merge(job, by: owner) else { return false }
        let isKept = job.state == .pending && delay == nil
        let sql = """
            UPDATE revocation_job SET client_id = $1, user_id = $2, token_fingerprint = $3,
                kind = $4, proof = $5, state = $6, was_active = $7, http_status = $8,
                apple_request_id = $9, evidence = $10, refresh_status = $11, attempts = $12,
                ended_at = $13, last_error = $14, key_number = $15, sealed = $16,
                is_unusual = $17, last_error_code = $18,
                due_at = CASE WHEN $6 <> 'pending' THEN NULL WHEN $19 = 1 THEN due_at
                    ELSE \(dialect.moment) + $20 END,
                lease_owner = CASE WHEN $19 = 1 THEN lease_owner END
            WHERE id = $21 AND state = 'pending' AND lease_owner = $22
                AND (kind = 'code' OR $4 <> 'code')
            RETURNING 1
            """
        let written = try run(
            sql,
            job.values + [
                .integer(isKept ? 1 : 0), .integer(delay?.wholeMilliseconds ?? 0),
                .integer(job.number), .text(owner),
            ])
        guard !written.isEmpty else { return false }
        guard job.state != .pending else { return true }
        var counts = CountChanges()
        try settle(requests(ofJob: job.number), events, &counts)
        try counts.write(to: self)
        return true
    }

    /// Deletes a job whose code was exchanged for the token of another pending job; its requests
    /// then wait for that job.
    ///
    /// - Returns: false, without a change, for every other job.
    private func merge(_ job: RevocationJob, by owner: String) throws(DatabaseFailure) -> Bool {
        // Only a code is exchanged for a token, and that is noted before any progress.
        guard job.kind != .code, job.state == .pending, job.progress.isEmpty,
            let other = try shared(job)
        else { return false }
        let deleted = try run(
            "DELETE FROM revocation_job WHERE id = $1 AND lease_owner = $2 RETURNING 1",
            .integer(job.number), .text(owner))
        guard !deleted.isEmpty else { return false }
        _ = try run(
            "UPDATE revocation_part SET job = $2 WHERE job = $1", .integer(job.number), other)
        return true
    }

    func requests(ofJob number: Int) throws(DatabaseFailure) -> [Value] {
        let sql = "SELECT revocation FROM revocation_part WHERE job = $1 ORDER BY revocation"
        return try run(sql, .integer(number)).compactMap(\.first)
    }

    /// Claims up to `limit` jobs that are due.
    func claimRevocations(
        of request: String?, _ limit: Int, _ lease: Lease
    ) throws(DatabaseFailure) -> DueRevocations {
        var due = DueRevocations()
        var leased: [[Value]] = []
        for row in try dueRevocations(of: request, limit) {
            do throws(DamagedColumn) {
                let job = try RevocationJob(row)
                let now = NumericDate(row.last?.integer ?? 0)
                due.jobs.append((job, max(now - job.createdAt, .zero)))
                leased.append([row[0]] + lease.milliseconds)
            } catch {
                due.damaged.append(StoreError(damagedJob: row[0], error.reason))
                // Examined again in an hour.
                leased.append([row[0], .null, .integer(3_600_000)])
            }
        }
        _ = try run(
            """
            UPDATE revocation_job SET lease_owner = $2, due_at = \(dialect.moment) + $3
            WHERE id = $1
            """, each: leased)
        return due
    }

    /// Locks the rows of due jobs, each followed by the current time.
    private func dueRevocations(
        of request: String?, _ limit: Int
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = Conditions()
        conditions.add("state = 'pending'")
        conditions.add("due_at <= \(dialect.moment)")
        if let request {
            conditions.add(
                """
                id IN (SELECT job FROM revocation_part WHERE revocation = (
                    SELECT id FROM revocation WHERE revocation_id = \
                \(conditions.add(.text(request)))))
                """)
        }
        let sql = """
            SELECT \(RevocationJob.columns), \(dialect.now)
            FROM revocation_job \(conditions.sql)
            ORDER BY due_at, id LIMIT \(conditions.add(.integer(limit)))
            \(dialect.skippingLockedRows)
            """
        return try run(sql, conditions.values)
    }

    func renewRevocations(
        _ numbers: [Int], _ lease: Lease
    ) throws(DatabaseFailure) -> Set<Int> {
        let sql = """
            UPDATE revocation_job SET due_at = \(dialect.moment) + $3
            WHERE id = $1 AND state = 'pending' AND lease_owner = $2 RETURNING 1
            """
        let answers = try run(sql, each: numbers.map { [.integer($0)] + lease.milliseconds })
        return Set(zip(numbers, answers).filter { !$1.isEmpty }.map(\.0))
    }

    /// Makes the jobs of a request due now: pending ones, and dead ones from the beginning.
    func retry(_ request: String, _ counts: inout CountChanges) throws(DatabaseFailure) {
        let found = try run(
            "SELECT id, state FROM revocation WHERE revocation_id = $1 \(dialect.lockingRows)",
            .text(request))
        guard let row = found.first, let id = row.first else { return }
        let part = "id IN (SELECT job FROM revocation_part WHERE revocation = $1)"
        _ = try run(
            """
            UPDATE revocation_job SET due_at = \(dialect.moment)
            WHERE \(part) AND state = 'pending' AND lease_owner IS NULL
            """, id)
        let revived = try run(
            """
            UPDATE revocation_job SET state = 'pending', due_at = \(dialect.moment), attempts = 0,
                ended_at = NULL, created_at = \(dialect.now)
            WHERE \(part) AND state = 'dead' AND sealed IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM revocation_job AS other
                WHERE other.client_id = revocation_job.client_id
                    AND other.token_fingerprint = revocation_job.token_fingerprint
                    AND other.state = 'pending')
            RETURNING 1
            """, id)
        guard !revived.isEmpty, let state = row[1].text.flatMap(RevocationJob.State.init),
            state != .pending
        else { return }
        _ = try run("UPDATE revocation SET state = 'pending', ended_at = NULL WHERE id = $1", id)
        counts.add(-1, state)
        counts.add(1, RevocationJob.State.pending)
    }

    /// Ends all leases, because no process is running.
    func endRevocationLeases() throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE revocation_job SET lease_owner = NULL, due_at = \(dialect.moment)
            WHERE state = 'pending' AND lease_owner IS NOT NULL
            """)
    }
}
