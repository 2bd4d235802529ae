internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

// Deleting rows whose retention is over, within a writing transaction.
extension Database {
    /// - Returns: the largest number of deleted rows of one kind.
    func purge(_ retention: Retention, _ limit: Int) throws(DatabaseFailure) -> Int {
        var counts = CountChanges()
        var most = 0
        var events: [DeletedEvent] = []
        for state in InboxState.allCases {
            guard let kept = retention.duration(of: state) else { continue }
            let deleted = try purge(state, after: kept, limit)
            counts.add(-deleted.count, state)
            most = max(most, deleted.count)
            events += deleted
        }
        try note(deleted: events)
        most = max(most, try purgeJournal(limit), try purgeRevocations(limit, &counts))
        _ = try run(
            "DELETE FROM server_activity WHERE hour < \(dialect.now) / 3600 - 168")
        try counts.write(to: self)
        return most
    }

    private func purge(
        _ state: InboxState, after kept: Duration, _ limit: Int
    ) throws(DatabaseFailure) -> [DeletedEvent] {
        let sql = """
            DELETE FROM inbox_event WHERE position IN (
                SELECT position FROM inbox_event
                WHERE state = $1 AND changed_at < \(dialect.now) - $2
                    AND expires_at < \(dialect.now) - $3
                ORDER BY changed_at LIMIT $4)
            RETURNING position, mark, CASE WHEN body IS NULL THEN 0 ELSE 1 END
            """
        let rows = try run(
            sql, .text(state.rawValue), .integer(kept.wholeMilliseconds / 1000),
            .integer(Retention.afterExpiry.wholeMilliseconds / 1000), .integer(limit))
        return rows.map { row in
            DeletedEvent(
                position: row[0].integer ?? 0, mark: row[1].integer ?? 0,
                wasShown: state.isShown && row[2].integer == 1, wasVerified: state.isVerified)
        }
    }

    private func purgeJournal(_ limit: Int) throws(DatabaseFailure) -> Int {
        let sql = """
            DELETE FROM code_journal WHERE code_sha256 IN (
                SELECT code_sha256 FROM code_journal
                WHERE changed_at < \(dialect.moment) - $1 AND lease_until <= \(dialect.moment)
                ORDER BY changed_at LIMIT $2)
            RETURNING 1
            """
        return try run(
            sql, .integer(CodeEntry.remembered.wholeMilliseconds), .integer(limit)
        ).count
    }

    /// Deletes requests that ended long ago, and jobs that no request refers to.
    private func purgeRevocations(
        _ limit: Int, _ counts: inout CountChanges
    ) throws(DatabaseFailure) -> Int {
        let deleted = try run(
            """
            DELETE FROM revocation WHERE id IN (
                SELECT id FROM revocation WHERE ended_at < \(dialect.now) - $1
                ORDER BY ended_at LIMIT $2)
            RETURNING id, state
            """, .integer(Retention.dead.wholeMilliseconds / 1000), .integer(limit))
        for row in deleted {
            if let state = row[1].text.flatMap(RevocationJob.State.init) { counts.add(-1, state) }
            let jobs = try run(
                "DELETE FROM revocation_part WHERE revocation = $1 RETURNING job", row[0])
            _ = try run(
                """
                DELETE FROM revocation_job WHERE id = $1 AND state <> 'pending'
                    AND NOT EXISTS (SELECT 1 FROM revocation_part WHERE job = $1)
                """, each: jobs)
        }
        return deleted.count
    }
}
