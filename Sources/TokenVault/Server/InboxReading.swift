internal import JOSE
internal import Lifecycle
internal import ServerRecords

// Reading the inbox.
extension Database {
    /// Apple's verified events after a position, in the order of commit.
    func events(after position: Int, _ limit: Int) throws(DatabaseFailure) -> InboxPage {
        let own = InboxEvent.ownTypes.map { "'\($0)'" }.joined(separator: ", ")
        let sql = """
            SELECT \(InboxEntry.columns) FROM inbox_event
            WHERE position > $1 AND state NOT IN ('unverified', 'rejected', 'discarded')
                AND body IS NOT NULL AND type NOT IN (\(own))
            ORDER BY position LIMIT $2
            """
        return InboxPage(try run(sql, .integer(position), .integer(limit)))
    }

    /// Unverified payloads, in the order of commit.
    func unverified(after position: Int, _ limit: Int) throws(DatabaseFailure) -> InboxPage {
        // There are at most a thousand; sorting them is faster than reading all events.
        let sql = """
            SELECT \(InboxEntry.columns) FROM inbox_event
            WHERE state = 'unverified' AND position > $1 ORDER BY position LIMIT $2
            """
        return InboxPage(try run(sql, .integer(position), .integer(limit)))
    }

    /// Events before a position, the newest first.
    func inbox(
        _ filter: InboxFilter, before position: Int?, _ limit: Int
    ) throws(DatabaseFailure) -> InboxPage {
        var conditions = Conditions()
        if let position { conditions.add("position <", .integer(position)) }
        if let userID = filter.userID { conditions.add("user_id =", .text(userID.rawValue)) }
        if let type = filter.type { conditions.add("type =", .text(type)) }
        if let since = filter.since { conditions.add("received_at >=", .integer(since.seconds)) }
        if !filter.states.isEmpty {
            let states = filter.states.map { conditions.add(.text($0.rawValue)) }
            conditions.add("state IN (\(states.joined(separator: ", ")))")
        }
        let sql = """
            SELECT \(InboxEntry.columns) FROM inbox_event \(conditions.sql)
            ORDER BY position DESC LIMIT \(conditions.add(.integer(limit)))
            """
        return InboxPage(try run(sql, conditions.values), isDescending: true)
    }

    func inboxEvent(_ id: EventID) throws(DatabaseFailure) -> InboxPage {
        let sql = "SELECT \(InboxEntry.columns) FROM inbox_event WHERE jti = $1"
        return InboxPage(try run(sql, id.value))
    }
}

extension InboxEntry {
    fileprivate static let columns = """
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
    fileprivate init(_ rows: [[Value]], isDescending: Bool = false) {
        self.init()
        for row in rows where row.count == 12 {
            // A cursor with an impossible position would end the reading forever.
            if let position = row[0].integer,
                isDescending || ClosedRange.positions.contains(position)
            {
                next = position
            }
            do throws(DamagedColumn) {
                entries.append(try InboxEntry(row))
            } catch {
                damaged.append(VaultError(damagedEvent: row[1], error.reason))
            }
        }
    }
}

extension VaultError {
    /// A row of the inbox that siwa-server cannot have written.
    init(damagedEvent id: Value, _ reason: String) {
        self.init(
            .recordDamaged, "event '\(escaped(id.textBytes))' of the inbox is damaged: \(reason)")
    }
}
