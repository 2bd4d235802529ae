internal import SignInWithApple

// What a store asks.
extension Database {
    func keyChecks() throws(DatabaseFailure) -> [VaultKeyCheck] {
        var checks: [VaultKeyCheck] = []
        for row in try run("SELECT number, check_value FROM vault_key ORDER BY number") {
            guard let number = row.first?.integer, let sealed = row.last?.bytes else {
                throw DatabaseFailure(.damaged, "the vault has a key that cannot be read")
            }
            checks.append(VaultKeyCheck(number: number, sealed: sealed))
        }
        return checks
    }

    /// The records that these users have.
    ///
    /// - Parameter isLocking: nobody else changes them until the transaction ends.
    func records(
        of users: [VaultUser], isLocking: Bool = false
    ) throws(DatabaseFailure) -> [VaultRecord] {
        let sql = """
            SELECT \(VaultRecord.columns) FROM vault_token
            WHERE client_id = $1 AND user_id = $2 \(isLocking ? dialect.lockingRows : "")
            """
        return try VaultRecord.all(run(sql, each: users.map(\.values)).flatMap(\.self))
    }

    func counts(_ filter: VaultFilter) throws(DatabaseFailure) -> [VaultState: Int] {
        let conditions = Conditions(filter, nil)
        let sql = "SELECT state, count(*) FROM vault_token \(conditions.sql) GROUP BY state"
        var counts: [VaultState: Int] = [:]
        for row in try run(sql, conditions.values) {
            guard let state = row.first?.text.flatMap(VaultState.init),
                let count = row.last?.integer
            else {
                throw DatabaseFailure(
                    .damaged, "the vault has records in a state that siwa does not know")
            }
            counts[state] = count
        }
        return counts
    }

    /// Up to `limit` records in their order. Each state by itself is in order in an index; all of
    /// them would have to be sorted for every page.
    func page(
        _ filter: VaultFilter, behind user: VaultUser?, _ limit: Int
    ) throws(DatabaseFailure) -> [VaultRecord] {
        if filter.states.isEmpty { return try page(filter, nil, behind: user, limit) }
        var records: [VaultRecord] = []
        for state in Set(filter.states) {
            records += try page(filter, state, behind: user, limit)
        }
        return Array(records.sorted { $0.user < $1.user }.prefix(limit))
    }

    private func page(
        _ filter: VaultFilter, _ state: VaultState?, behind user: VaultUser?, _ limit: Int
    ) throws(DatabaseFailure) -> [VaultRecord] {
        var conditions = Conditions(filter, state)
        if let user { conditions.add(behind: user, of: filter) }
        let sql = """
            SELECT \(VaultRecord.columns) FROM vault_token \(conditions.sql)
            ORDER BY client_id, user_id LIMIT \(conditions.add(.integer(limit)))
            """
        return try VaultRecord.all(run(sql, conditions.values))
    }
}
