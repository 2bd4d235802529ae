internal import Lifecycle

// What a store reads.
extension Database {
    func keyChecks() throws(DatabaseFailure) -> [VaultKeyCheck] {
        var checks: [VaultKeyCheck] = []
        for row in try run("SELECT number, check_value FROM vault_key ORDER BY number") {
            guard let number = row.first?.integer, let sealed = row.last?.bytes,
                VaultKeyRing.possibleNumbers.contains(number)
            else {
                throw DatabaseFailure(
                    .damaged, "the vault's list of keys has an entry that cannot be read")
            }
            checks.append(VaultKeyCheck(number: number, sealed: sealed))
        }
        return checks
    }

    /// All records of some users.
    ///
    /// - Parameters:
    ///   - users: in their order.
    ///   - isLocking: others cannot change them until the transaction ends.
    func records(
        of users: [VaultUser], isLocking: Bool = false
    ) throws(DatabaseFailure) -> VaultPage {
        let known = try usersWithRecords(among: users)
        let list = RowList(
            columns: [.text("client_id"), .text("user_id")], rows: known.map(\.values))
        let rows = try run(for: list) { user in
            user.forEach(
                """
                SELECT \(VaultRecord.columns) FROM vault_token
                WHERE client_id = \(user["client_id"]) AND user_id = \(user["user_id"])
                ORDER BY token_fingerprint \(isLocking ? dialect.lockingRows : "")
                """)
        }
        return VaultPage(rows)
    }

    /// Those of many users who have records, if they are few: an import brings mostly new ones, and
    /// one walk along the index, from the first user to the last, costs less than a look for each.
    /// Otherwise all of them. What another transaction adds meanwhile, the looks would not see either.
    private func usersWithRecords(
        among users: [VaultUser]
    ) throws(DatabaseFailure) -> [VaultUser] {
        guard users.count >= fewestUsersOfWalk, let first = users.first, let last = users.last
        else { return users }
        // The walk ends where it is certain to save nothing.
        let limit = users.count / 4
        let sql = """
            SELECT client_id, user_id FROM vault_token
            WHERE (client_id, user_id) >= ($1, $2) AND (client_id, user_id) <= ($3, $4)
            ORDER BY client_id, user_id, token_fingerprint LIMIT $5
            """
        let rows = try run(sql, first.values + last.values + [.integer(limit)])
        guard rows.count < limit else { return users }
        let known = Set(rows)
        return known.isEmpty ? [] : users.filter { known.contains($0.values) }
    }

    func counts(_ filter: VaultFilter) throws(DatabaseFailure) -> [VaultState: Int] {
        let conditions = Conditions(filter, nil)
        let sql = "SELECT state, count(*) FROM vault_token \(conditions.sql) GROUP BY state"
        var counts: [VaultState: Int] = [:]
        for row in try run(sql, conditions.values) {
            guard let state = row.first?.text.flatMap(VaultState.init) else { continue }
            counts[state] = row.last?.integer
        }
        return counts
    }

    /// Up to `limit` records in their order. Each state by itself is in order in an index; several
    /// states together would have to be sorted for every page.
    func page(
        _ filter: VaultFilter, after key: VaultRowKey?, _ limit: Int
    ) throws(DatabaseFailure) -> VaultPage {
        if filter.states.isEmpty {
            return VaultPage(try rows(filter, nil, after: key, limit))
        }
        var rows: [[Value]] = []
        for state in Set(filter.states) {
            rows += try self.rows(filter, state, after: key, limit)
        }
        let inOrder = rows.map { (key: VaultRowKey($0), row: $0) }.sorted { $0.key < $1.key }
        return VaultPage(inOrder.prefix(limit).map(\.row))
    }

    private func rows(
        _ filter: VaultFilter, _ state: VaultState?, after key: VaultRowKey?, _ limit: Int
    ) throws(DatabaseFailure) -> [[Value]] {
        guard filter.looksIntoRecords else {
            return try rows(filter, state, after: key, upTo: nil, limit)
        }
        return try rowsByStretch(after: key, limit) { start, length throws(DatabaseFailure) in
            try endOfStretch(filter, state, after: start, length)
        } rows: { start, end, limit throws(DatabaseFailure) in
            try rows(filter, state, after: start, upTo: end, limit)
        }
    }

    /// Up to `limit` rows of which no index knows what a filter selects. A stretch of all rows is read
    /// at a time: no statement goes through a whole table to find little.
    ///
    /// - Parameters:
    ///   - endOfStretch: the position so many rows behind another, whatever the filter selects; nil
    ///     where fewer are left.
    ///   - rows: up to so many of the selected rows after a position, up to another.
    func rowsByStretch<Position>(
        after position: Position?, _ limit: Int,
        endOfStretch: (Position?, Int) throws(DatabaseFailure) -> Position?,
        rows: (Position?, Position?, Int) throws(DatabaseFailure) -> [[Value]]
    ) throws(DatabaseFailure) -> [[Value]] {
        var (found, start, length): ([[Value]], Position?, Int) = ([], position, 4 * limit)
        while found.count < limit {
            let end = try endOfStretch(start, length)
            found += try rows(start, end, limit - found.count)
            guard let end else { break }
            (start, length) = (end, min(2 * length, max(length, longestStretch)))
        }
        return found
    }

    /// The key that is `length` records behind another, whatever the filter selects; nil where
    /// fewer are left.
    private func endOfStretch(
        _ filter: VaultFilter, _ state: VaultState?, after key: VaultRowKey?, _ length: Int
    ) throws(DatabaseFailure) -> VaultRowKey? {
        let all = VaultFilter(clientID: filter.clientID)
        var conditions = Conditions(all, state)
        if let key { conditions.add(after: key, of: all) }
        let sql = """
            SELECT client_id, user_id, token_fingerprint FROM vault_token \(conditions.sql)
            ORDER BY client_id, user_id, token_fingerprint
            LIMIT 1 OFFSET \(conditions.add(.integer(length - 1)))
            """
        return try run(sql, conditions.values).first.map { VaultRowKey($0) }
    }

    private func rows(
        _ filter: VaultFilter, _ state: VaultState?, after key: VaultRowKey?,
        upTo end: VaultRowKey?, _ limit: Int
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = Conditions(filter, state)
        if let key { conditions.add(after: key, of: filter) }
        if let end { conditions.add(upTo: end, of: filter) }
        let sql = """
            SELECT \(VaultRecord.columns) FROM vault_token \(conditions.sql)
            ORDER BY client_id, user_id, token_fingerprint
            LIMIT \(conditions.add(.integer(limit)))
            """
        return try run(sql, conditions.values)
    }

    /// The clients that have records, in their order: one look at each.
    func clients() throws(DatabaseFailure) -> [ClientID] {
        var clients: [ClientID] = []
        var last: Value?
        while let next = try nextClient(after: last) {
            last = next
            if let client = next.text.flatMap({ try? ClientID(validating: $0) }) {
                clients.append(client)
            }
        }
        return clients
    }

    /// There are few clients, and many records of each: reading them all would take long.
    func nextClient(after client: Value?) throws(DatabaseFailure) -> Value? {
        let sql = """
            SELECT client_id FROM vault_token WHERE client_id > $1
            ORDER BY client_id LIMIT 1
            """
        return try run(sql, client ?? .text("")).first?.first
    }

    /// The keys that records are encrypted with and that the vault does not list. Reads all records, a
    /// stretch of them in a statement.
    func unknownKeys() throws(DatabaseFailure) -> [String] {
        var (numbers, start): (Set<Int>, VaultRowKey?) = ([], nil)
        repeat {
            let end = try endOfStretch(VaultFilter(), nil, after: start, longestStretch)
            var conditions = Conditions()
            conditions.add("key_number NOT IN (SELECT number FROM vault_key)")
            if let start { conditions.add(after: start, of: VaultFilter()) }
            if let end { conditions.add(upTo: end, of: VaultFilter()) }
            let sql = "SELECT DISTINCT key_number FROM vault_token \(conditions.sql)"
            numbers.formUnion(try run(sql, conditions.values).compactMap { $0.first?.integer })
            start = end
        } while start != nil
        return numbers.sorted().map {
            "records are encrypted with key \($0), which is missing from the vault's list of keys"
        }
    }
}

extension VaultFilter {
    /// Whether an index knows less than the filter asks for.
    fileprivate var looksIntoRecords: Bool {
        notCheckedSince != nil || changedBefore != nil || notSealedWith != nil || isNewestOnly
    }
}

/// Fewer users have changed, rather than come: results of a batch, users of an app transfer.
private let fewestUsersOfWalk = 1000

/// Rows that a statement looks at, at most, to find those that a filter selects.
let longestStretch = 20_000
