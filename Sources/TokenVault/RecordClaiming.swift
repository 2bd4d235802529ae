internal import Lifecycle

// Leases of records.
extension Database {
    /// Up to `limit` rows whose leases end impossibly late, so that no run could ever claim them.
    ///
    /// - Parameter isLocking: locks them until the transaction ends, and skips rows that others
    ///   have locked.
    func rowsLeasedTooLong(
        _ filter: VaultFilter, _ limit: Int, isLocking: Bool = false
    ) throws(DatabaseFailure) -> [DamagedRecord] {
        var rows: [[Value]] = []
        try forEachClient(of: filter) { client throws(DatabaseFailure) in
            for state in filter.allStates where rows.count < limit {
                var conditions = Conditions(filter, client, state)
                conditions.add("lease_until > \(latestEndOfLease)")
                let sql = """
                    SELECT client_id, user_id, token_fingerprint FROM vault_token
                    \(conditions.sql) ORDER BY lease_until, user_id
                    LIMIT \(conditions.add(.integer(limit - rows.count)))
                    \(isLocking ? dialect.skippingLockedRows : "")
                    """
                rows += try run(sql, conditions.values)
            }
            return rows.count < limit
        }
        return rows.map { DamagedRecord(VaultRowKey($0), "its lease_until is out of range") }
    }

    /// The latest possible end of a lease, plus a day in case the clock was set back.
    private var latestEndOfLease: String {
        "\(dialect.now) + \(VaultLease.longest + 86_400)"
    }

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
    func lease(_ records: [VaultRecord], to lease: VaultLease) throws(DatabaseFailure) {
        let list = RowList(
            columns: VaultRecord.columnList + VaultLease.columns,
            rows: records.map { $0.values + lease.values })
        _ = try run(for: list) { new in
            """
            UPDATE vault_token SET state = \(new["state"]), key_number = \(new["key_number"]),
                version = \(new["version"]), sealed = \(new["sealed"]),
                stored_at = \(new["stored_at"]), changed_at = \(new["changed_at"]),
                checked_at = \(new["checked_at"]), \(leasing(new))
            """
        }
    }

    /// Leases unreadable rows, so that the next claim finds others.
    func lease(_ damaged: [DamagedRecord], to lease: VaultLease) throws(DatabaseFailure) {
        let list = RowList(
            columns: RowList.key + VaultLease.columns,
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
        _ ids: [VaultRecordID], for lease: VaultLease
    ) throws(DatabaseFailure) -> Set<VaultRecordID> {
        let list = RowList(
            columns: RowList.key + VaultLease.columns,
            rows: ids.map { VaultRowKey($0).values + lease.values })
        let held = try run(for: list) { row in
            """
            UPDATE vault_token SET lease_until = \(dialect.now) + \(row["seconds"])
            \(row.source("FROM"))
            WHERE \(row.isTheSameToken) AND lease_owner = \(row["owner"])
                AND lease_until > \(dialect.now)
            RETURNING vault_token.client_id, vault_token.user_id, vault_token.token_fingerprint
            """
        }
        let keys = Set(held.map { VaultRowKey($0) })
        return Set(ids.filter { keys.contains(VaultRowKey($0)) })
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
                conditions.add("lease_until <= \(latestEndOfLease)")
                conditions.add("lease_owner <>", .text(owner))
                // In this order, the rows are adjacent in an index.
                let sql = """
                    SELECT count(*), max(lease_until), \(dialect.now)
                    FROM (SELECT lease_until FROM vault_token \(conditions.sql)
                        ORDER BY lease_until, user_id) AS leased
                    """
                let row = try run(sql, conditions.values).first ?? []
                guard row.count == 3, let number = row[0].integer, let end = row[1].integer,
                    let now = row[2].integer
                else { continue }
                count += number
                seconds = max(seconds, end.subtractingReportingOverflow(now).partialValue)
            }
            return true
        }
        return (count, seconds)
    }

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

extension VaultLease {
    /// The columns of ``values``.
    fileprivate static var columns: [RowList.Column] { [.text("owner"), .integer("seconds")] }

    /// The owner, and the seconds of the lease, plus one because the database's clock has whole
    /// seconds.
    fileprivate var values: [Value] {
        [.text(owner), .integer(Int(seconds) + 1)]
    }

    /// The minimum duration of the lease.
    var remaining: Duration { .seconds(seconds) }

    private var seconds: Int64 { min(max(duration.components.seconds, 0), Self.longest) }

    /// A hundred years.
    static let longest: Int64 = 3_155_760_000
}

extension VaultFilter {
    /// The selected states, in a fixed order.
    var allStates: [VaultState] {
        VaultState.allCases.filter { states.isEmpty || states.contains($0) }
    }
}
