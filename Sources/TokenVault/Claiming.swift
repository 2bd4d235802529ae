internal import SignInWithApple

// How records are taken from others for a while.
extension Database {
    /// Up to `limit` records that nobody holds, that `owner` has not held and that nobody gave back
    /// after `start`, those untouched longest first. Client by client and state by state: each is
    /// in that order in an index.
    func free(
        _ filter: VaultFilter, _ limit: Int, owner: String, since start: Int
    ) throws(DatabaseFailure) -> [VaultRecord] {
        let states = filter.states.isEmpty ? VaultState.allCases : filter.states
        var records: [VaultRecord] = []
        var client = filter.clientID
        if client == nil { client = try nextClient(after: nil) }
        while let next = client, records.count < limit {
            for state in Set(states) where records.count < limit {
                records += try free(
                    filter, next, state, limit - records.count, owner, since: start)
            }
            client = filter.clientID == nil ? try nextClient(after: next) : nil
        }
        return records
    }

    private func free(
        _ filter: VaultFilter, _ client: ClientID, _ state: VaultState, _ limit: Int,
        _ owner: String, since start: Int
    ) throws(DatabaseFailure) -> [VaultRecord] {
        var filter = filter
        filter.clientID = client
        var conditions = Conditions(filter, state)
        conditions.add("lease_until <= \(dialect.now)")
        conditions.add("(lease_owner IS NULL OR lease_owner <> \(conditions.add(.text(owner))))")
        // Else two runs would hand what Apple refuses to each other, for as long as both last.
        conditions.add(
            "(given_back_at IS NULL OR given_back_at <= \(conditions.add(.integer(start))))")
        let sql = """
            SELECT \(VaultRecord.columns) FROM vault_token \(conditions.sql)
            ORDER BY lease_until, user_id LIMIT \(conditions.add(.integer(limit)))
            \(dialect.skippingLockedRows)
            """
        return try VaultRecord.all(run(sql, conditions.values))
    }

    /// There are few clients, and many records of each: to read them all would take long.
    private func nextClient(after client: ClientID?) throws(DatabaseFailure) -> ClientID? {
        let sql = """
            SELECT client_id FROM vault_token WHERE client_id > $1
            ORDER BY client_id LIMIT 1
            """
        return try run(sql, .text(client?.rawValue ?? "")).first?.first?.text
            .map { ClientID(unchecked: $0) }
    }

    /// Writes records as they are now, leased.
    func lease(_ records: [VaultRecord], to lease: VaultLease) throws(DatabaseFailure) {
        // The clock has no fractions: one second more, so that none is missing.
        let seconds = min(max(lease.duration.components.seconds, 0), Self.longestLease) + 1
        let sql = """
            UPDATE vault_token SET state = $3, key_number = $4, version = $5, sealed = $6,
                stored_at = $7, changed_at = $8, checked_at = $9,
                lease_owner = $10, lease_until = \(dialect.now) + $11, given_back_at = NULL
            WHERE client_id = $1 AND user_id = $2
            """
        let held: [Value] = [.text(lease.owner), .integer(Int(seconds))]
        _ = try run(sql, each: records.map { $0.values + held })
    }

    /// The clock that leases run by, in milliseconds.
    func moment() throws(DatabaseFailure) -> Int {
        guard let moment = try run("SELECT \(dialect.moment)").first?.first?.integer else {
            throw DatabaseFailure(.damaged, "the vault's database does not tell the time")
        }
        return moment
    }

    /// A hundred years.
    private static var longestLease: Int64 { 3_155_760_000 }
}
