internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

// Work that waits longer than any wait may be, because its times were written while a clock was
// wrong, within a writing transaction.
extension Database {
    /// Makes such work due. An age that was to begin in the future begins now.
    func bringBackParked() throws(DatabaseFailure) {
        let (now, moment) = (dialect.now, dialect.moment)
        let latest = "\(moment) + \(Self.longestWait)"
        for (table, column, value, limit) in [
            ("inbox_event", "due_at", moment, latest),
            ("inbox_event", "holds_until", latest, latest),
            ("inbox_event", "changed_at", now, now),
            ("revocation_job", "due_at", moment, latest),
            ("revocation_job", "created_at", now, now),
            ("revocation", "requested_at", now, now),
        ] {
            _ = try run(
                """
                UPDATE \(table) SET \(column) = \(value)
                WHERE state = 'pending' AND \(column) > \(limit)
                """)
        }
    }

    /// The longest wait of any work, in milliseconds.
    static var longestWait: Int { Backoff.longest.wholeMilliseconds }
}
