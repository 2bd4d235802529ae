package import SIWADatabases
internal import SIWAJOSE
package import SIWALifecycle

// The history of the vault. Rows are added, and deleted when they are old or erased.
extension Database {
    private var columnNames: [String] {
        [
            "at", "event", "client_id", "user_id", "token_fingerprint", "evidence", "http_status",
            "apple_request_id", "command", "host", "new_user_id",
        ]
    }

    private var columns: String { columnNames.joined(separator: ", ") }

    func insert(_ entries: [VaultHistoryEntry]) throws(DatabaseFailure) {
        try copy(entries.map(\.values), into: "vault_history", columnNames)
    }

    /// Up to `limit` entries, the oldest first. The entries of one user id are in the order of an
    /// index; those of several ids are merged.
    func history(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, _ limit: Int
    ) throws(DatabaseFailure) -> VaultHistoryPage {
        guard let userID = filter.userID else {
            return VaultHistoryPage(try rows(filter, after: position, limit, about: nil))
        }
        var rows: [Int: [Value]] = [:]
        for id in try allIDs(of: userID, filter.clientID) {
            for column in ["user_id", "new_user_id"] {
                for row in try self.rows(filter, after: position, limit, about: (column, id)) {
                    rows[row[0].integer ?? 0] = row
                }
            }
        }
        let inOrder = rows.values.map { (position: VaultHistoryPosition($0), row: $0) }
            .sorted { $0.position < $1.position }
        return VaultHistoryPage(inOrder.prefix(limit).map(\.row))
    }

    /// The entries about a user in one of the columns with ids, or those of all users.
    private func rows(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, _ limit: Int,
        about user: (column: String, id: Value)?
    ) throws(DatabaseFailure) -> [[Value]] {
        guard filter.looksIntoEntries else {
            return try rows(filter, Stretch(after: position, upTo: nil), limit, about: user)
        }
        return try rowsByStretch(after: position, limit) {
            position, number throws(DatabaseFailure) in
            try self.position(number, after: position, filter, about: user)
        } rows: { stretch, limit throws(DatabaseFailure) in
            try rows(filter, stretch, limit, about: user)
        }.rows
    }

    /// The position of the entry at a distance after another, of those in the filter's time; nil if
    /// fewer entries are left.
    private func position(
        _ number: Int, after position: VaultHistoryPosition?, _ filter: VaultHistoryFilter,
        about user: (column: String, id: Value)?
    ) throws(DatabaseFailure) -> VaultHistoryPosition? {
        let all = VaultHistoryFilter(since: filter.since, until: filter.until)
        var conditions = Conditions(all, Stretch(after: position, upTo: nil), about: user)
        let sql = """
            SELECT id, at FROM vault_history \(conditions.sql)
            ORDER BY at, id LIMIT 1 OFFSET \(conditions.add(.integer(number - 1)))
            """
        return try run(sql, conditions.values).first.map { VaultHistoryPosition($0) }
    }

    private func rows(
        _ filter: VaultHistoryFilter, _ stretch: Stretch<VaultHistoryPosition>, _ limit: Int,
        about user: (column: String, id: Value)?
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = Conditions(filter, stretch, about: user)
        let sql = """
            SELECT id, \(columns) FROM vault_history \(conditions.sql)
            ORDER BY at, id LIMIT \(conditions.add(.integer(limit)))
            """
        return try run(sql, conditions.values)
    }

    /// The last states of tokens, also under the ids that their users had before. Entries that cannot
    /// be read count for nothing.
    func lastStates(
        of ids: [VaultRecordID]
    ) throws(DatabaseFailure) -> [VaultRecordID: VaultPastState] {
        guard try !run("SELECT 1 FROM vault_history LIMIT 1").isEmpty else { return [:] }
        var found: [VaultRecordID: VaultPastState] = [:]
        // By the id to look for.
        var open = Dictionary(ids.map { (VaultRowKey($0), [$0]) }, uniquingKeysWith: +)
        // The history is untrusted, so the number of followed ids is limited.
        for _ in 0..<10 where !open.isEmpty {
            let events = VaultHistoryEvent.allCases.filter { $0.state != nil }
            for entry in try lastEntries(of: Set(open.keys), events, at: "user_id") {
                guard let event = entry.event.text.flatMap(VaultHistoryEvent.init),
                    let state = event.state, let since = try? entry.time.date("time")
                else { continue }
                let past = VaultPastState(state, since: since)
                for id in open.removeValue(forKey: entry.key) ?? [] { found[id] = past }
            }
            var earlier: [VaultRowKey: [VaultRecordID]] = [:]
            for entry in try lastEntries(of: Set(open.keys), [.remapped], at: "new_user_id") {
                let old = VaultRowKey(
                    clientID: entry.key.clientID, userID: entry.userID.textBytes,
                    fingerprint: entry.key.fingerprint)
                earlier[old, default: []] += open[entry.key] ?? []
            }
            open = earlier
        }
        return found
    }

    private typealias LastEntry = (key: VaultRowKey, event: Value, time: Value, userID: Value)

    /// The last entry about each token whose user has the id in a column. The tokens of a user are
    /// searched together: the index has no tokens, so that each search reads the user's entries.
    private func lastEntries(
        of keys: Set<VaultRowKey>, _ events: [VaultHistoryEvent], at column: String
    ) throws(DatabaseFailure) -> [LastEntry] {
        let columns = "client_id, \(column), token_fingerprint, event, at, user_id"
        let names = events.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        func entries(_ row: RowList.Words) -> String {
            """
            FROM vault_history
            WHERE \(column) = \(row["user_id"]) AND client_id = \(row["client_id"])
                AND token_fingerprint BETWEEN \(row["token_fingerprint"])
                    AND \(row["last_fingerprint"])
                AND event IN (\(names))
            """
        }
        let users = Dictionary(grouping: keys.sorted(), by: \.withoutToken).values
        func list(_ users: [[VaultRowKey]]) -> RowList {
            RowList(
                columns: RowList.key + [.text("last_fingerprint")],
                rows: users.map { $0[0].values + $0[$0.count - 1].values.suffix(1) })
        }
        // Most users have one token, for which the index has the order.
        let ofOne = try run(for: list(users.filter { $0.count == 1 })) { row in
            row.forEach("SELECT \(columns) \(entries(row)) ORDER BY at DESC, id DESC LIMIT 1")
        }
        let ofMany = try run(for: list(users.filter { $0.count > 1 })) { row in
            row.forEach(
                """
                SELECT \(columns) FROM (
                    SELECT *, row_number() OVER (
                        PARTITION BY token_fingerprint ORDER BY at DESC, id DESC) AS place
                    \(entries(row))) AS entries
                WHERE place = 1
                """)
        }
        return (ofOne + ofMany)
            .map { (VaultRowKey($0), event: $0[3], time: $0[4], userID: $0[5]) }
            .filter { keys.contains($0.key) }
    }

    func historyCount(_ filter: VaultHistoryFilter) throws(DatabaseFailure) -> Int {
        let conditions = Conditions(filter, Stretch(after: nil, upTo: nil), about: nil)
        let sql = "SELECT count(*) FROM vault_history \(conditions.sql)"
        return try run(sql, conditions.values).first?.first?.integer ?? 0
    }

    /// All ids that a user has had, by the app transfers in the history.
    package func allIDs(
        of userID: UserID, _ clientID: ClientID?
    ) throws(DatabaseFailure) -> Set<Value> {
        var ids: Set<Value> = [.text(userID.rawValue)]
        var new = ids
        // The history is untrusted, so the number of followed ids is limited.
        while !new.isEmpty, ids.count < 100 {
            var found: Set<Value> = []
            for id in new {
                for (from, to) in [("user_id", "new_user_id"), ("new_user_id", "user_id")] {
                    var conditions = Conditions()
                    conditions.add("\(from) =", id)
                    conditions.add("new_user_id IS NOT NULL")
                    if let clientID { conditions.add("client_id =", .text(clientID.rawValue)) }
                    let sql = "SELECT \(to) FROM vault_history \(conditions.sql) LIMIT 100"
                    found.formUnion(try run(sql, conditions.values).compactMap(\.first))
                }
            }
            new = found.subtracting(ids)
            ids.formUnion(new)
        }
        return ids
    }

    func eraseHistory(of user: VaultUser) throws(DatabaseFailure) {
        let client = Value.text(user.clientID.rawValue)
        for id in try allIDs(of: user.userID, user.clientID) {
            for column in ["user_id", "new_user_id"] {
                _ = try run(
                    "DELETE FROM vault_history WHERE \(column) = $1 AND client_id = $2",
                    id, client)
            }
        }
    }

    /// Deletes all entries about a user id, of every client.
    package func eraseHistory(ofUserID id: Value) throws(DatabaseFailure) {
        for column in ["user_id", "new_user_id"] {
            _ = try run("DELETE FROM vault_history WHERE \(column) = $1", id)
        }
    }

    func pruneHistory(before moment: NumericDate, _ limit: Int) throws(DatabaseFailure) -> Int {
        let sql = """
            DELETE FROM vault_history WHERE id IN (
                SELECT id FROM vault_history WHERE at < $1 ORDER BY at, id LIMIT $2)
            RETURNING 1
            """
        return try run(sql, .integer(moment.seconds), .integer(limit)).count
    }
}

extension Conditions {
    /// Selects entries of the history in a stretch.
    fileprivate init(
        _ filter: VaultHistoryFilter, _ stretch: Stretch<VaultHistoryPosition>,
        about user: (column: String, id: Value)?
    ) {
        self.init()
        if let user { add("\(user.column) =", user.id) }
        if let clientID = filter.clientID { add("client_id =", .text(clientID.rawValue)) }
        add(["at", "id"], stretch.map { $0.values })
        // The plus prevents SQLite from using this condition for the index range in place of the
        // position.
        if let since = filter.since {
            add("\(stretch.start == nil ? "" : "+")at >=", .integer(since.seconds))
        }
        if let until = filter.until {
            add("\(stretch.end == nil ? "" : "+")at <", .integer(until.seconds))
        }
        if !filter.events.isEmpty {
            let events = filter.events.map { add(.text($0.rawValue)) }
            add("event IN (\(events.joined(separator: ", ")))")
        }
    }
}

extension VaultHistoryFilter {
    /// Whether the filter needs columns that are not in an index.
    fileprivate var looksIntoEntries: Bool { clientID != nil || !events.isEmpty }
}

extension VaultHistoryEntry {
    /// The values of the columns.
    fileprivate var values: [Value] {
        [.integer(at.seconds), .text(event.rawValue)] + user.values + [
            .text(fingerprint.rawValue), Value(details.evidence?.rawValue),
            Value(details.httpStatus), Value(details.appleRequestID), .text(actor.command),
            .text(actor.host), Value(newUserID?.rawValue),
        ]
    }

    /// Reads a row, whose values are untrusted.
    fileprivate init(_ row: [Value]) throws(DamagedColumn) {
        var row = CheckedRow(row)
        _ = try row.next()
        let at = try row.date("time")
        let event: VaultHistoryEvent = try row.known("event")
        let user = try row.user()
        let fingerprint = try row.fingerprint()
        let details = VaultEventDetails(
            evidence: try row.optionalKnown("evidence"),
            httpStatus: try row.optionalInteger("http_status", in: .statuses),
            appleRequestID: try row.optionalText("apple_request_id"))
        let actor = VaultActor(command: try row.text("command"), host: try row.text("host"))
        self.init(
            at: at, event: event, user: user, fingerprint: fingerprint, details: details,
            actor: actor, newUserID: try row.optionalUserID())
    }
}

extension VaultHistoryPosition {
    /// The values, in the order of an index.
    fileprivate var values: [Value] { [.integer(at), .integer(number)] }

    fileprivate init(_ row: [Value]) {
        self.init(at: row[1].integer ?? 0, number: row[0].integer ?? 0)
    }
}

extension VaultHistoryPage {
    /// Reads rows, in their order.
    fileprivate init(_ rows: [[Value]]) {
        self.init()
        for row in rows {
            let position = VaultHistoryPosition(row)
            next = position
            do throws(DamagedColumn) {
                entries.append(try VaultHistoryEntry(row))
            } catch {
                damaged.append(
                    StoreError(
                        .recordDamaged,
                        "entry \(position.number) of the history is damaged: \(error.reason)"))
            }
        }
    }
}
