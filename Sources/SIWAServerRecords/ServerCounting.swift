internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The changes of a transaction to the maintained counts. They are written last and in a fixed
/// order, which prevents deadlocks.
struct CountChanges {
    private var counts: [String: Int] = [:]
    private var activity: [HourlyActivity.Kind: Int] = [:]

    /// Counts events that entered or left a state.
    mutating func add(_ count: Int, _ state: InboxState) {
        counts["inbox.\(state.rawValue)", default: 0] += count
    }

    /// Counts requests to revoke that entered or left a state.
    mutating func add(_ count: Int, _ state: RevocationJob.State) {
        counts["revocation.\(state.rawValue)", default: 0] += count
    }

    /// Counts an activity of the current hour.
    mutating func add(_ count: Int, _ kind: HourlyActivity.Kind) {
        activity[kind, default: 0] += count
    }

    /// Writes the changes.
    func write(to database: any Database) throws(DatabaseFailure) {
        let counted = counts.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        _ = try database.run(
            """
            INSERT INTO server_count (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = \(Self.countSum)
            """, each: counted.map { [.text($0.key), .integer($0.value)] })
        let happened = activity.filter { $0.value != 0 }
            .sorted { $0.key.rawValue < $1.key.rawValue }
        _ = try database.run(
            """
            INSERT INTO server_activity (hour, kind, value)
            VALUES (\(database.dialect.now) / 3600, $1, $2)
            ON CONFLICT (hour, kind)
            DO UPDATE SET value = \(Self.activitySum)
            """, each: happened.map { [.text($0.key.rawValue), .integer($0.value)] })
    }

    // Every commit of events uses them.
    private static let countSum = sum("server_count")
    private static let activitySum = sum("server_activity")

    /// The sum of a table's value and the new one. A value that is out of range becomes the limit:
    /// a damaged count must not make the transaction fail.
    private static func sum(_ table: String) -> String {
        let limit = Int.highestCount
        return """
            CASE WHEN \(table).value > \(limit) THEN \(limit)
                WHEN \(table).value < -\(limit) THEN -\(limit)
                ELSE \(table).value + excluded.value END
            """
    }
}

// Reading the counts.
extension Database {
    /// Reserves the next positions of the inbox. Others wait until the transaction ends.
    ///
    /// - Returns: the first position.
    func takePositions(_ count: Int) throws(DatabaseFailure) -> Int {
        let sql =
            "UPDATE server_count SET value = value + $1 WHERE name = 'position' RETURNING value"
        guard let last = try run(sql, .integer(count)).first?.first?.integer,
            (count...ClosedRange.positions.upperBound).contains(last)
        else { throw .lostPosition }
        return last - count + 1
    }

    /// Locks the place of the newest event until the transaction ends.
    func lockPosition() throws(DatabaseFailure) {
        _ = try run(
            "SELECT value FROM server_count WHERE name = 'position' \(dialect.lockingRows)")
    }

    /// Fails if no event could be added, or no page read.
    func checkPosition() throws(DatabaseFailure) {
        let row = try run(
            """
            SELECT value, (SELECT max(position) FROM inbox_event)
            FROM server_count WHERE name = 'position'
            """
        ).first
        guard let last = row?.first?.integer, ClosedRange.positions.contains(last),
            last >= row?.last?.integer ?? 0
        else { throw .lostPosition }
        _ = try eventHistory()
    }

    /// Keeps others from adding events until the transaction ends.
    func holdEvents() throws(DatabaseFailure) {
        _ = try run(
            "SELECT 1 FROM server_count WHERE name = 'position' \(dialect.holdingRows)")
    }

    /// A maintained count; 0 if nothing was counted.
    func count(_ state: InboxState) throws(DatabaseFailure) -> Int {
        try run(
            "SELECT value FROM server_count WHERE name = $1", .text("inbox.\(state.rawValue)")
        ).first?.first?.integer ?? 0
    }

    func serverCounts() throws(DatabaseFailure) -> ServerCounts {
        var counts = ServerCounts()
        var (checkedAt, faults): (NumericDate?, Int) = (nil, 0)
        for row in try run("SELECT name, value FROM server_count") {
            var row = CheckedRow(row)
            guard let name = try? row.text("name"), let value = try? row.count() else { continue }
            if let state = name.removing("inbox.").flatMap(InboxState.init) {
                counts.inbox[state] = value
            } else if let state = name.removing("revocation.").flatMap(RevocationJob.State.init) {
                counts.revocations[state] = value
            } else if name == "tokens_counted_at", value > 0 {
                let date = NumericDate(value)
                counts.tokensCountedAt = date.isWritable ? date : nil
            } else if name == Self.vaultCheckedAt {
                let date = NumericDate(value)
                checkedAt = date.isWritable ? date : nil
            } else if name == Self.vaultFaults {
                faults = value
            }
        }
        counts.vaultCheck = checkedAt.map { .init(at: $0, faults: faults) }
        // Positions are in the order of receipt. `changed_at` is earlier if a clock was wrong.
        counts.oldestPendingEvent = try age(
            """
            SELECT CASE WHEN changed_at < received_at THEN changed_at ELSE received_at END,
                \(dialect.now)
            FROM inbox_event WHERE state = 'pending' ORDER BY position LIMIT 1
            """)
        counts.eventAttempts = try attempts(
            of: ["attempts <= 0", "attempts > 0"], in: "inbox_event")
        counts.failingEvents = try failingEvents()
        if counts.revocations[.dead] ?? 0 > 0 { counts.givenUp = try givenUpRevocations() }
        counts.oldestPendingRevocation = try age(
            """
            SELECT requested_at, \(dialect.now) FROM revocation WHERE state = 'pending'
            ORDER BY requested_at LIMIT 1
            """)
        counts.revocationAttempts = try attempts(
            of: ["due_at IS NOT NULL"], in: "revocation_job")
        counts.tokens = try tokenCounts()
        if counts.oldestPendingRevocation == nil {
            counts.oldestUnfinished = try unfinished(of: counts.tokens.keys.map(\.rawValue))
        }
        counts.lastValidation = try lastValidation(of: counts.tokens.keys.map(\.rawValue))
        return counts
    }

    /// Notes that the whole vault was checked.
    func noteVaultCheck(faults: Int) throws(DatabaseFailure) {
        for (name, value) in [(Self.vaultCheckedAt, dialect.now), (Self.vaultFaults, "\(faults)")] {
            _ = try run(
                """
                INSERT INTO server_count (name, value) VALUES ($1, \(value))
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, .text(name))
        }
    }

    private static var vaultCheckedAt: String { "vault_checked_at" }
    private static var vaultFaults: String { "vault_faults" }

    /// When pending rows are due.
    ///
    /// - Parameter kinds: the conditions of the indexes that together have all rows.
    private func attempts(
        of kinds: [String], in table: String
    ) throws(DatabaseFailure) -> ServerCounts.Attempts? {
        var dates: [NumericDate] = []
        for kind in kinds {
            for order in ["", "DESC"] {
                let row = try run(
                    """
                    SELECT due_at FROM \(table) WHERE state = 'pending' AND \(kind)
                    ORDER BY due_at \(order) LIMIT 1
                    """
                ).first
                let date = row?.first?.integer.map { NumericDate($0 / 1000) }
                if let date, date.isWritable { dates.append(date) }
            }
        }
        guard let next = dates.min(), let last = dates.max() else { return nil }
        return ServerCounts.Attempts(next: next, last: last)
    }

    private func failingEvents() throws(DatabaseFailure) -> ServerCounts.Failing? {
        let row = try run(
            """
            SELECT count(*), max(attempts) FROM (
                SELECT attempts FROM inbox_event WHERE state = 'pending' AND attempts > 0
                ORDER BY due_at LIMIT \(ServerCounts.Failing.most)
            ) AS failing
            """
        ).first
        guard var row = row.map(CheckedRow.init), let count = try? row.count(), count > 0,
            let attempts = try? row.count()
        else { return nil }
        return ServerCounts.Failing(count: count, attempts: attempts)
    }

    /// Requests with a job that can be tried again, or whose code Apple refused. The others were ended
    /// by ``UserErasure``.
    private func givenUpRevocations() throws(DatabaseFailure) -> Int {
        let row = try run(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM revocation WHERE state = 'dead' AND EXISTS (
                    SELECT 1 FROM revocation_part
                    JOIN revocation_job ON revocation_job.id = revocation_part.job
                    WHERE revocation_part.revocation = revocation.id
                        AND revocation_job.state = 'dead'
                        AND (sealed IS NOT NULL OR kind = 'code' AND last_error_code <> $1))
                LIMIT \(ServerCounts.Failing.most)
            ) AS given_up
            """, .text(RevocationJob.clientWithoutProfile)
        ).first
        return row?.first?.integer ?? 0
    }

    /// The age of the token whose revocation was begun and left first. An imported one has no lease, or
    /// one from before.
    private func unfinished(of clients: [String]) throws(DatabaseFailure) -> Duration? {
        var oldest: Duration?
        for client in clients {
            let age = try age(
                """
                SELECT min(CASE WHEN lease_until > changed_at THEN lease_until ELSE changed_at END),
                    \(dialect.now)
                FROM (
                    SELECT lease_until, changed_at FROM vault_token
                    WHERE client_id = $1 AND state = '\(VaultState.revoking.rawValue)'
                    ORDER BY lease_until LIMIT 1000
                ) AS begun
                """, .text(client))
            oldest = [oldest, age].compactMap(\.self).max()
        }
        return oldest
    }

    private func age(_ sql: String, _ values: Value...) throws(DatabaseFailure) -> Duration? {
        guard let row = try run(sql, values).first, let begin = row[0].integer,
            let now = row[1].integer
        else { return nil }
        return max(NumericDate(now) - NumericDate(begin), .zero)
    }

    private func tokenCounts() throws(DatabaseFailure) -> [ClientID: [VaultState: Int]] {
        var counts: [ClientID: [VaultState: Int]] = [:]
        for row in try run("SELECT client_id, state, value FROM server_token_count") {
            var row = CheckedRow(row)
            guard let client = try? ClientID(validating: row.text("client_id")),
                let state: VaultState = try? row.known("state"), let value = try? row.count()
            else { continue }
            counts[client, default: [:]][state] = value
        }
        return counts
    }

    /// Whether the vault's tokens were counted so many seconds ago, or longer.
    func areTokenCounts(olderThan seconds: Int) throws(DatabaseFailure) -> Bool {
        try !run(
            """
            SELECT 1 FROM server_count
            WHERE name = 'tokens_counted_at' AND \(counts(olderThan: seconds))
            """
        ).isEmpty
    }

    /// A time in the future was written while a clock was wrong.
    private func counts(olderThan seconds: Int) -> String {
        "(value <= \(dialect.now) - \(seconds) OR value > \(dialect.now))"
    }

    /// Counts the vault's tokens, unless another process just did.
    func countTokens(olderThan seconds: Int) throws(DatabaseFailure) {
        let taken = try run(
            """
            UPDATE server_count SET value = \(dialect.now)
            WHERE name = 'tokens_counted_at' AND \(counts(olderThan: seconds)) RETURNING 1
            """)
        guard !taken.isEmpty else { return }
        _ = try run("DELETE FROM server_token_count")
        _ = try run(
            """
            INSERT INTO server_token_count (client_id, state, value)
            SELECT client_id, state, count(*) FROM vault_token GROUP BY state, client_id
            """)
    }

    func activity(hours: Int) throws(DatabaseFailure) -> [HourlyActivity] {
        let sql = """
            SELECT hour, kind, value FROM server_activity
            WHERE hour > \(dialect.now) / 3600 - $1 ORDER BY hour, kind
            """
        var found: [HourlyActivity] = []
        for row in try run(sql, .integer(hours)) {
            var row = CheckedRow(row)
            guard let hour = try? row.integer("hour", in: 0...9_999_999),
                let kind: HourlyActivity.Kind = try? row.known("kind"), let value = try? row.count()
            else { continue }
            let begin = NumericDate(hour * 3600)
            if found.last?.begin != begin {
                found.append(HourlyActivity(begin: begin, counts: [:]))
            }
            found[found.count - 1].counts[kind] = value
        }
        return found
    }
}

extension DatabaseFailure {
    fileprivate static var lostPosition: Self {
        Self(.damaged, "the inbox does not know its last position")
    }
}

extension Int {
    /// A limit above all real counts whose sums do not overflow.
    fileprivate static let highestCount = 1_000_000_000_000
}

extension CheckedRow {
    /// A count, at most the highest one.
    fileprivate mutating func count() throws(DamagedColumn) -> Int {
        min(try integer("value", in: 0...Int.max), .highestCount)
    }
}

extension String {
    /// The text after a prefix; nil if the text does not begin with it.
    fileprivate func removing(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
