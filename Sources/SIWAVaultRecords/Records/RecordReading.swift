package import SIWADatabases
package import SIWALifecycle

// Reading records.
extension Database {
    package func keyChecks() throws(DatabaseFailure) -> [VaultKeyCheck] {
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

    /// The records of a scope, in their order.
    ///
    /// - Parameter isLocking: locks them until the transaction ends.
    package func records(
        of scope: VaultScope, isLocking: Bool = false
    ) throws(DatabaseFailure) -> VaultPage {
        let keys = try stored(among: scope.keys)
        let rows = try run(for: keys) { key in
            let isTheSame = keys.columns.map { "\($0.name) = \(key[$0.name])" }
            return key.forEach(
                """
                SELECT \(VaultRecord.columns) FROM vault_token
                WHERE \(isTheSame.joined(separator: " AND "))
                ORDER BY token_fingerprint \(isLocking ? dialect.lockingRows : "")
                """)
        }
        return VaultPage(rows)
    }

    /// The keys that have records, if they are few among many; otherwise all keys. Most keys of
    /// an import are new, and reading the index once from the first key to the last is faster than
    /// searching each. Records that another transaction adds at the same time would not be found by
    /// separate searches either.
    private func stored(among keys: RowList) throws(DatabaseFailure) -> RowList {
        guard keys.rows.count >= fewestKeysOfWalk, let first = keys.rows.first,
            let last = keys.rows.last
        else { return keys }
        // The reading ends as soon as it is certain to save nothing.
        let limit = keys.rows.count / 4
        let names = keys.columns.map(\.name)
        var conditions = Conditions()
        conditions.add(names, Stretch(from: first, upTo: last))
        let sql = """
            SELECT \(names.joined(separator: ", ")) FROM vault_token \(conditions.sql)
            ORDER BY client_id, user_id, token_fingerprint
            LIMIT \(conditions.add(.integer(limit)))
            """
        let found = try run(sql, conditions.values)
        guard found.count < limit else { return keys }
        let known = Set(found)
        return RowList(
            columns: keys.columns, rows: known.isEmpty ? [] : keys.rows.filter(known.contains))
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

    /// Up to `limit` records in their order. The rows of each state are in the order of an index;
    /// those of several states would have to be sorted for every page.
    func page(
        _ filter: VaultFilter, after key: VaultRowKey?, _ limit: Int
    ) throws(DatabaseFailure) -> VaultPage {
        if filter.states.count < 2 {
            return VaultPage(try search(filter, filter.states.first, after: key, limit))
        }
        var all = StretchSearch<VaultRowKey>()
        for state in Set(filter.states) {
            let search = try search(filter, state, after: key, limit)
            all.rows += search.rows
            all.searched += search.searched
            all.stop = [all.stop, search.stop].compactMap(\.self).min()
        }
        // Behind the place where a search stopped, it may have overlooked rows.
        var inOrder = all.rows.map { (key: VaultRowKey($0), row: $0) }
        if let stop = all.stop { inOrder.removeAll { stop < $0.key } }
        inOrder.sort { $0.key < $1.key }
        all.rows = inOrder.prefix(limit).map { $0.row }
        if inOrder.count >= limit { all.stop = nil }
        return VaultPage(all)
    }

    private func search(
        _ filter: VaultFilter, _ state: VaultState?, after key: VaultRowKey?, _ limit: Int
    ) throws(DatabaseFailure) -> StretchSearch<VaultRowKey> {
        guard filter.looksIntoRecords else {
            let rows = try rows(filter, state, Stretch(after: key, upTo: nil), limit)
            return StretchSearch(rows)
        }
        return try rowsByStretch(after: key, limit, stoppingAfter: longestStretch) {
            key, number throws(DatabaseFailure) in
            try self.key(number, after: key, filter.clientID, state)
        } rows: { stretch, limit throws(DatabaseFailure) in
            try rows(filter, state, stretch, limit)
        }
    }

    /// The key of the record at a distance after another, of a client or of all; nil if fewer
    /// records are left.
    private func key(
        _ number: Int, after key: VaultRowKey?, _ client: ClientID?, _ state: VaultState?
    ) throws(DatabaseFailure) -> VaultRowKey? {
        let all = VaultFilter(clientID: client)
        var conditions = Conditions(all, state)
        conditions.add(Stretch(after: key, upTo: nil), of: all)
        let sql = """
            SELECT client_id, user_id, token_fingerprint FROM vault_token \(conditions.sql)
            ORDER BY client_id, user_id, token_fingerprint
            LIMIT 1 OFFSET \(conditions.add(.integer(number - 1)))
            """
        return try run(sql, conditions.values).first.map { VaultRowKey($0) }
    }

    private func rows(
        _ filter: VaultFilter, _ state: VaultState?, _ stretch: Stretch<VaultRowKey>, _ limit: Int
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = Conditions(filter, state)
        conditions.add(stretch, of: filter)
        let sql = """
            SELECT \(VaultRecord.columns) FROM vault_token \(conditions.sql)
            ORDER BY client_id, user_id, token_fingerprint
            LIMIT \(conditions.add(.integer(limit)))
            """
        return try run(sql, conditions.values)
    }

    /// The clients that have records, in their order, with one query for each.
    package func clients() throws(DatabaseFailure) -> [ClientID] {
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

    /// Reads the first record of the next client, because each client has many records.
    func nextClient(after client: Value?) throws(DatabaseFailure) -> Value? {
        let sql = """
            SELECT client_id FROM vault_token WHERE client_id > $1
            ORDER BY client_id LIMIT 1
            """
        return try run(sql, client ?? .text("")).first?.first
    }

    /// The keys of records that are not in the vault's list of keys. Reads all records, in
    /// stretches.
    func unknownKeys() throws(DatabaseFailure) -> [String] {
        var (numbers, start): (Set<Int>, VaultRowKey?) = ([], nil)
        repeat {
            let stretch = try Stretch(after: start, length: longestStretch) {
                key, number throws(DatabaseFailure) in
                try self.key(number, after: key, nil, nil)
            }
            var conditions = Conditions()
            conditions.add("key_number NOT IN (SELECT number FROM vault_key)")
            conditions.add(stretch, of: VaultFilter())
            // The order makes PostgreSQL take the index of the keys, whatever it expects to find.
            let sql = """
                SELECT DISTINCT key_number FROM (
                    SELECT key_number FROM vault_token \(conditions.sql)
                    ORDER BY client_id, user_id, token_fingerprint
                    LIMIT \(conditions.add(.integer(longestStretch)))) AS stretch
                """
            numbers.formUnion(try run(sql, conditions.values).compactMap { $0.first?.integer })
            start = stretch.end
        } while start != nil
        return numbers.sorted().map {
            "records are encrypted with key \($0), which is missing from the vault's list of keys"
        }
    }
}

/// Fewer keys are not an import, but results of a batch or users of an app transfer, who have
/// records.
private let fewestKeysOfWalk = 1000
