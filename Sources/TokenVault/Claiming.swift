internal import Lifecycle

// How records are kept from others for a while.
extension Database {
    /// Up to `limit` free records that `owner` has not held and that were not returned
    /// after `start`, those untouched longest first. Client by client and state by state: each is
    /// in that order in an index.
    func free(
        _ filter: VaultFilter, _ limit: Int, owner: String, since start: Int
    ) throws(DatabaseFailure) -> VaultPage {
        var rows: [[Value]] = []
        try forEachClient(of: filter) { client throws(DatabaseFailure) in
            for state in Self.states(of: filter) where rows.count < limit {
                rows += try free(filter, client, state, limit - rows.count, owner, since: start)
            }
            return rows.count < limit
        }
        return VaultPage(rows)
    }

    /// - Parameter body: answers whether to go on.
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

    private static func states(of filter: VaultFilter) -> Set<VaultState> {
        Set(filter.states.isEmpty ? VaultState.allCases : filter.states)
    }

    private func free(
        _ filter: VaultFilter, _ client: Value, _ state: VaultState, _ limit: Int,
        _ owner: String, since start: Int
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = conditions(filter, client, state)
        conditions.add("lease_until <= \(dialect.now)")
        conditions.add("(lease_owner IS NULL OR lease_owner <> \(conditions.add(.text(owner))))")
        // Otherwise two runs would hand what Apple refuses to each other, as long as both last.
        conditions.add(
            "(given_back_at IS NULL OR given_back_at <= \(conditions.add(.integer(start))))")
        let sql = """
            SELECT \(VaultRecord.columns) FROM vault_token \(conditions.sql)
            ORDER BY lease_until, user_id LIMIT \(conditions.add(.integer(limit)))
            \(dialect.skippingLockedRows)
            """
        return try run(sql, conditions.values)
    }

    private func conditions(
        _ filter: VaultFilter, _ client: Value, _ state: VaultState
    ) -> Conditions {
        var rest = filter
        rest.clientID = nil
        var conditions = Conditions(rest, state)
        conditions.add("client_id =", client)
        return conditions
    }

    /// Writes records as they are now, leased.
    func lease(_ records: [VaultRecord], to lease: VaultLease) throws(DatabaseFailure) {
        let sql = """
            UPDATE vault_token SET state = $4, key_number = $5, version = $6, sealed = $7,
                stored_at = $8, changed_at = $9, checked_at = $10,
                lease_owner = $11, lease_until = \(dialect.now) + $12, given_back_at = NULL
            WHERE client_id = $1 AND user_id = $2 AND token_fingerprint = $3
            """
        _ = try run(sql, each: records.map { $0.values + lease.values })
    }

    /// Leases rows that cannot be read, so that the next claim finds others.
    func lease(_ damaged: [DamagedRecord], to lease: VaultLease) throws(DatabaseFailure) {
        let sql = """
            UPDATE vault_token SET lease_owner = $4, lease_until = \(dialect.now) + $5,
                given_back_at = NULL
            WHERE client_id = $1 AND user_id = $2 AND token_fingerprint = $3
            """
        _ = try run(sql, each: damaged.map { $0.key.values + lease.values })
    }

    /// Extends leases.
    ///
    /// - Returns: the records that the owner still held.
    func renew(
        _ ids: [VaultRecordID], for lease: VaultLease
    ) throws(DatabaseFailure) -> Set<VaultRecordID> {
        let sql = """
            UPDATE vault_token SET lease_until = \(dialect.now) + $5
            WHERE client_id = $1 AND user_id = $2 AND token_fingerprint = $3
                AND lease_owner = $4 AND lease_until > \(dialect.now)
            RETURNING 1
            """
        let answers = try run(sql, each: ids.map { VaultRowKey($0).values + lease.values })
        return Set(zip(ids, answers).filter { !$1.isEmpty }.map { $0.0 })
    }

    /// How many records others hold, and how many seconds the last of those leases has left.
    func leased(
        by owner: String, _ filter: VaultFilter
    ) throws(DatabaseFailure) -> (count: Int, seconds: Int) {
        var (count, seconds) = (0, 0)
        try forEachClient(of: filter) { client throws(DatabaseFailure) in
            for state in Self.states(of: filter) {
                var conditions = conditions(filter, client, state)
                conditions.add("lease_until > \(dialect.now)")
                conditions.add("lease_owner <>", .text(owner))
                // In this order the rows are together in an index.
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

    /// The clock that leases run by, in milliseconds.
    func moment() throws(DatabaseFailure) -> Int {
        guard let moment = try run("SELECT \(dialect.moment)").first?.first?.integer else {
            throw DatabaseFailure(.damaged, "the vault's database does not tell the time")
        }
        return moment
    }
}

extension VaultLease {
    /// The owner, and the seconds that the lease lasts. The database's clock has no fractions: one
    /// second more, so that no record is missed.
    fileprivate var values: [Value] {
        [.text(owner), .integer(Int(seconds) + 1)]
    }

    /// How long the lease lasts at least.
    var remaining: Duration { .seconds(seconds) }

    private var seconds: Int64 { min(max(duration.components.seconds, 0), Self.longest) }

    /// A hundred years.
    private static let longest: Int64 = 3_155_760_000
}
