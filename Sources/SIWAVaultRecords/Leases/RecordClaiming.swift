internal import SIWADatabases
internal import SIWALifecycle

// Leases of records.
extension Database {
    /// Up to `limit` leases of others that end later than any lease can; see ``VaultLeaseWatch``.
    ///
    /// - Parameter isLocking: locks their rows until the transaction ends, and skips rows that others
    ///   have locked.
    func strayLeases(
        _ filter: VaultFilter, besides owner: String, _ limit: Int, isLocking: Bool = false
    ) throws(DatabaseFailure) -> [VaultStrayLease] {
        try rows(filter, besides: owner, limit, isLocking: isLocking) { conditions in
            conditions.add("lease_until > \(latestEndOfLease)")
            conditions.add("lease_owner IS NOT NULL AND given_back_at IS NULL")
        }.compactMap { row in
            row.end.integer.map {
                VaultStrayLease(row: row.key, owner: row.owner.textBytes, end: $0)
            }
        }
    }

    /// Frees up to `limit` rows that nobody holds, and that claims would find only later: they were
    /// written by a clock that was ahead.
    ///
    /// - Returns: the number of rows.
    func freeRowsOfTheFuture(
        _ filter: VaultFilter, besides owner: String, _ limit: Int
    ) throws(DatabaseFailure) -> Int {
        let found = try rows(filter, besides: owner, limit, isLocking: true) { conditions in
            conditions.add("lease_until > \(dialect.now) + \(Self.tolerance)")
            conditions.add("(lease_owner IS NULL OR given_back_at IS NOT NULL)")
        }
        try free(found.map(\.key))
        return found.count
    }

    /// Ends leases, so that the next claim finds the records. Only for rows that this transaction has
    /// locked.
    func free(_ rows: [VaultRowKey]) throws(DatabaseFailure) {
        let list = RowList(columns: RowList.key, rows: rows.map(\.values))
        _ = try run(for: list) { row in
            """
            UPDATE vault_token SET lease_owner = NULL, lease_until = 0, given_back_at = NULL
            \(row.source("FROM")) WHERE \(row.isTheSameToken)
            """
        }
    }

    private typealias LeasedRow = (key: VaultRowKey, owner: Value, end: Value)

    /// Rows in the order of an index, with their leases.
    private func rows(
        _ filter: VaultFilter, besides owner: String, _ limit: Int, isLocking: Bool,
        _ select: (inout Conditions) -> Void
    ) throws(DatabaseFailure) -> [LeasedRow] {
        var rows: [LeasedRow] = []
        try forEachClient(of: filter) { client throws(DatabaseFailure) in
            for state in filter.allStates where rows.count < limit {
                var conditions = Conditions(filter, client, state)
                select(&conditions)
                conditions.add(
                    "(lease_owner IS NULL OR lease_owner <> \(conditions.add(.text(owner))))")
                let sql = """
                    SELECT client_id, user_id, token_fingerprint, lease_owner, lease_until
                    FROM vault_token \(conditions.sql) ORDER BY lease_until, user_id
                    LIMIT \(conditions.add(.integer(limit - rows.count)))
                    \(isLocking ? dialect.skippingLockedRows : "")
                    """
                rows += try run(sql, conditions.values)
                    .map { (VaultRowKey($0), owner: $0[3], end: $0[4]) }
            }
            return rows.count < limit
        }
        return rows
    }

    /// The latest possible end of a lease. It is not computed from the end, which may be any number.
    private var latestEndOfLease: String {
        "\(dialect.now) + \(Lease.longest.components.seconds + Self.tolerance)"
    }

    /// By how many seconds the clock may be set back without making leases strange.
    private static var tolerance: Int64 { 60 }

    /// - Parameter body: returns whether to continue.
    private func forEachClient(
        of filter: VaultFilter, _ body: (Value) throws(DatabaseFailure) -> Bool
    ) throws(DatabaseFailure) {
        if let client = filter.clientID {
            _ = try body(.text(client.rawValue))
            return
        }
        var client: Value?
        while let next = try nextClient(after: client), try body(next) { client = next }
    }

    /// Writes changed records, and leases them.
    func lease(_ records: [VaultRecord], to lease: Lease) throws(DatabaseFailure) {
        let list = RowList(
            columns: VaultRecord.columnList + Lease.columns,
            rows: records.map { $0.values + lease.values })
        _ = try run(for: list) { new in
            """
            UPDATE vault_token SET state = \(new["state"]), key_number = \(new["key_number"]),
                sealed = \(new["sealed"]), stored_at = \(new["stored_at"]),
                changed_at = \(new["changed_at"]), checked_at = \(new["checked_at"]),
                \(leasing(new))
            """
        }
    }

    /// Leases unreadable rows, so that the next claim finds others.
    func lease(_ damaged: [DamagedRecord], to lease: Lease) throws(DatabaseFailure) {
        let list = RowList(
            columns: RowList.key + Lease.columns,
            rows: damaged.map { $0.key.values + lease.values })
        _ = try run(for: list) { row in "UPDATE vault_token SET \(leasing(row))" }
    }

    private func leasing(_ row: RowList.Words) -> String {
        """
        lease_owner = \(row["owner"]), lease_until = \(dialect.now) + \(row["seconds"]),
            given_back_at = NULL
        \(row.source("FROM")) WHERE \(row.isTheSameToken)
        """
    }

    /// Extends leases.
    ///
    /// - Returns: the records that the owner still held.
    func renew(
        _ ids: [VaultRecordID], for lease: Lease
    ) throws(DatabaseFailure) -> Set<VaultRecordID> {
        try held(ids, Lease.columns, lease.values) { row in
            """
            UPDATE vault_token SET lease_until = \(dialect.now) + \(row["seconds"])
            \(row.source("FROM")) WHERE \(isHeld(row)) RETURNING \(Self.keyColumns)
            """
        }
    }

    /// The records that the owner still holds.
    func held(
        _ ids: [VaultRecordID], by owner: String
    ) throws(DatabaseFailure) -> Set<VaultRecordID> {
        try held(ids, [.text("owner")], [.text(owner)]) { row in
            row.forEach("SELECT \(Self.keyColumns) FROM vault_token WHERE \(isHeld(row))")
        }
    }

    /// - Parameters:
    ///   - columns: what the statement needs besides the key of a row.
    ///   - values: their values, which are the same for all rows.
    private func held(
        _ ids: [VaultRecordID], _ columns: [RowList.Column], _ values: [Value],
        _ sql: (RowList.Words) -> String
    ) throws(DatabaseFailure) -> Set<VaultRecordID> {
        let list = RowList(
            columns: RowList.key + columns, rows: ids.map { VaultRowKey($0).values + values })
        let keys = Set(try run(for: list, sql).map { VaultRowKey($0) })
        return Set(ids.filter { keys.contains(VaultRowKey($0)) })
    }

    private func isHeld(_ row: RowList.Words) -> String {
        """
        \(row.isTheSameToken) AND vault_token.lease_owner = \(row["owner"])
            AND vault_token.lease_until > \(dialect.now) AND vault_token.given_back_at IS NULL
        """
    }

    private static var keyColumns: String {
        "vault_token.client_id, vault_token.user_id, vault_token.token_fingerprint"
    }

    /// The number of records that others hold, and the remaining seconds of the latest of their
    /// leases.
    func leased(
        by owner: String, _ filter: VaultFilter
    ) throws(DatabaseFailure) -> (count: Int, seconds: Int) {
        var (count, seconds) = (0, 0)
        try forEachClient(of: filter) { client throws(DatabaseFailure) in
            for state in filter.allStates {
                var conditions = Conditions(filter, client, state)
                conditions.add("lease_until > \(dialect.now)")
                conditions.add("lease_owner <>", .text(owner))
                conditions.add("given_back_at IS NULL")
                // In this order, the rows are adjacent in an index.
                let sql = """
                    SELECT count(*), max(lease_until), \(dialect.now)
                    FROM (SELECT lease_until FROM vault_token \(conditions.sql)
                        ORDER BY lease_until, user_id) AS leased
                    """
                guard let row = try run(sql, conditions.values).first,
                    let number = row[0].integer, let end = row[1].integer,
                    let now = row[2].integer
                else { continue }
                count += number
                let (left, isTooLong) = end.subtractingReportingOverflow(now)
                seconds = max(
                    seconds, isTooLong ? Int(Self.farthest) : min(left, Int(Self.farthest)))
            }
            return true
        }
        return (count, seconds)
    }

    /// A hundred years: a later end of a lease is shown as this.
    private static var farthest: Int64 { 3_155_760_000 }

    /// The time of the clock that measures leases, in milliseconds.
    func moment() throws(DatabaseFailure) -> Int { try time(dialect.moment) }

    /// The time of one of the dialect's clocks.
    func time(_ clock: String) throws(DatabaseFailure) -> Int {
        guard let number = try run("SELECT \(clock)").first?.first?.integer else {
            throw DatabaseFailure(.damaged, "the vault's database did not return its time")
        }
        return number
    }
}

extension Lease {
    /// The columns of ``values``.
    fileprivate static var columns: [RowList.Column] { [.text("owner"), .integer("seconds")] }

    /// The owner, and the seconds of the lease, plus one because the database's clock has whole
    /// seconds.
    fileprivate var values: [Value] {
        [.text(owner), .integer(Int(seconds) + 1)]
    }

    /// The minimum duration of the lease.
    var remaining: Duration { .seconds(seconds) }

    private var seconds: Int64 {
        min(max(duration.components.seconds, 0), Self.longest.components.seconds)
    }
}

extension VaultFilter {
    /// The selected states, in a fixed order.
    var allStates: [VaultState] {
        VaultState.allCases.filter { states.isEmpty || states.contains($0) }
    }
}
