internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// Reading the inbox.
extension Database {
    /// Unverified payloads, in the order of commit.
    func unverified(after position: Int, _ limit: Int) throws(DatabaseFailure) -> InboxPage {
        // There are at most a thousand; sorting them is faster than reading all events.
        let sql = """
            SELECT \(InboxEntry.columns) FROM inbox_event
            WHERE state = 'unverified' AND position > $1 ORDER BY position LIMIT $2
            """
        return InboxPage(try run(sql, .integer(position), .integer(limit)))
    }

    /// Events before a position, the newest first. Several states are read one after the other, each
    /// along its index.
    func inbox(
        _ filter: InboxFilter, before position: Int?, _ limit: Int
    ) throws(DatabaseFailure) -> InboxPage {
        var rows: [[Value]] = []
        let states = Set(filter.states).map(Optional.some)
        for state in states.isEmpty ? [nil] : states {
            rows += try self.rows(filter, state, before: position, limit)
        }
        if states.count > 1 {
            rows.sort { ($0.first?.integer ?? .min) > ($1.first?.integer ?? .min) }
        }
        return InboxPage(Array(rows.prefix(limit)), isDescending: true)
    }

    private func rows(
        _ filter: InboxFilter, _ state: InboxState?, before position: Int?, _ limit: Int
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = Conditions()
        if let position { conditions.add("position <", .integer(position)) }
        if let userID = filter.userID { conditions.add("user_id =", .text(userID.rawValue)) }
        if let type = filter.type { conditions.add("type =", .text(type)) }
        if let since = filter.since { conditions.add("received_at >=", .integer(since.seconds)) }
        if let state { conditions.add("state =", .text(state.rawValue)) }
        let sql = """
            SELECT \(InboxEntry.columns) FROM inbox_event \(conditions.sql)
            ORDER BY position DESC LIMIT \(conditions.add(.integer(limit)))
            """
        return try run(sql, conditions.values)
    }

    /// The verified events of users that affect tokens, by their times.
    ///
    /// - Parameter audiences: the `aud` of the notifications that concern these users' clients.
    func notices(
        of users: [VaultUser], from audiences: [ClientID]
    ) throws(DatabaseFailure) -> [VaultNotice] {
        let states = InboxState.allCases.filter(\.isVerified).map { "'\($0.rawValue)'" }
        let sql = """
            SELECT type, client_id, event_time FROM inbox_event
            WHERE user_id = $1 AND state IN (\(states.joined(separator: ", ")))
            ORDER BY event_time, position
            """
        let names = Set(audiences.map(\.rawValue))
        let found = try run(sql, each: users.map { [.text($0.userID.rawValue)] })
        return zip(users, found).flatMap { user, rows in
            rows.compactMap { row in
                var row = CheckedRow(row)
                guard let type = try? row.text("type"), let audience = try? row.text("client_id"),
                    names.contains(audience), let time = try? row.next().integer
                else { return nil }
                return VaultNotice(
                    NotificationEvent.Kind(rawValue: type), at: NumericDate(time), users: [user])
            }
        }
    }

    func inboxEvent(_ id: EventID) throws(DatabaseFailure) -> InboxPage {
        let sql = "SELECT \(InboxEntry.columns) FROM inbox_event WHERE jti = $1"
        var page = InboxPage(try run(sql, id.value))
        if page.entries.first?.state == .pending {
            page.entries[0].waitsFor = try eventBefore(id)
        }
        return page
    }
}

extension InboxEntry {
    static let columns = """
        position, jti, type, client_id, user_id, event_time, received_at, state, attempts, \
        due_at, last_error, body
        """

    fileprivate init(_ row: [Value]) throws(DamagedColumn) {
        var row = CheckedRow(row)
        let position = try row.integer("position", in: .positions)
        let id = try row.eventID()
        let type = try row.text("type")
        let user = try row.user()
        let occurredAt = try row.date("event_time")
        let receivedAt = try row.date("received_at")
        let state: InboxState = try row.known("state")
        self.init(
            id: id, position: position, type: type, user: user, occurredAt: occurredAt,
            receivedAt: receivedAt, state: state,
            attempts: try row.integer("attempts", in: .attempts),
            nextAttemptAt: try row.optionalMoment("due_at"),
            lastError: try row.optionalText("last_error"),
            body: try row.optionalBytes("body"))
    }
}

extension InboxPage {
    /// Reads rows, in their order.
    ///
    /// - Parameter isDescending: whether the newest are first.
    init(_ rows: [[Value]], isDescending: Bool = false) {
        self.init()
        for row in rows {
            // A cursor with an impossible position would end the reading forever.
            if let position = row[0].integer,
                isDescending || ClosedRange.positions.contains(position)
            {
                next = position
            }
            do throws(DamagedColumn) {
                entries.append(try InboxEntry(row))
            } catch {
                damaged.append(StoreError(damagedEvent: row[1], error.reason))
            }
        }
    }
}

extension StoreError {
    /// A row of the inbox that siwa-server cannot have written.
    init(damagedEvent id: Value, _ reason: String) {
        self.init(
            .recordDamaged, "event '\(escaped(id.textBytes))' of the inbox is damaged: \(reason)")
    }
}
