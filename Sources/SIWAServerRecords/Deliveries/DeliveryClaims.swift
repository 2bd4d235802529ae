internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// Claiming deliveries and recording their outcomes, within a writing transaction. A leased event is
// due when its lease ends.
extension Database {
    /// Claims events that are due.
    func claimDeliveries(
        _ room: DeliveryRoom, _ lease: Lease
    ) throws(DatabaseFailure) -> DueDeliveries {
        var due = DueDeliveries()
        try claim("attempts <= 0", upTo: min(room.firstAttempts, room.total), lease, &due)
        let left = room.total - due.deliveries.count
        try claim("attempts > 0", upTo: min(room.retries, left), lease, &due)
        return due
    }

    /// Claims events of one kind, which has an index of its own.
    private func claim(
        _ kind: String, upTo count: Int, _ lease: Lease, _ due: inout DueDeliveries
    ) throws(DatabaseFailure) {
        let limit = due.deliveries.count + count
        // Ends because events that are held back are examined once a minute.
        while due.deliveries.count < limit {
            let rows = try dueEvents(kind, limit - due.deliveries.count)
            if rows.isEmpty { break }
            var held: [[Value]] = []
            var leased: [[Value]] = []
            var damaged: [Value] = []
            for row in rows {
                do throws(DamagedColumn) {
                    var checked = CheckedRow(Array(row.dropFirst()))
                    let isHeld = try checked.integer("order", in: 0...1) == 1
                    if isHeld { held.append([row[0]]) }
                    guard !isHeld else { continue }
                    due.deliveries.append(try DueDelivery(&checked))
                    leased.append([row[0]] + lease.milliseconds)
                } catch {
                    due.damaged.append(StoreError(damagedEvent: row[2], error.reason))
                    damaged.append(row[0])
                }
            }
            try hold(held)
            try self.lease(leased)
            for position in damaged { try deferDamagedEvent(position) }
        }
    }

    /// Due events, those that have been due longest first, and whether an earlier event of their
    /// user holds them back.
    private func dueEvents(_ kind: String, _ limit: Int) throws(DatabaseFailure) -> [[Value]] {
        let sql = """
            SELECT position, CASE WHEN \(isHeldBack) THEN 1 ELSE 0 END,
                jti, body, attempts, changed_at, \(dialect.now)
            FROM inbox_event
            WHERE state = 'pending' AND \(kind) AND due_at <= \(dialect.moment)
            ORDER BY due_at, position LIMIT $1 \(dialect.skippingLockedRows)
            """
        return try run(sql, .integer(limit))
    }

    /// Whether an earlier event of its user holds an event back.
    private var isHeldBack: String {
        "EXISTS (SELECT 1 FROM inbox_event AS earlier WHERE \(isHoldingBack))"
    }

    /// Whether `earlier` holds an event of its user back.
    private var isHoldingBack: String {
        """
        earlier.user_id = inbox_event.user_id AND earlier.state = 'pending'
            AND (earlier.event_time, earlier.position)
                < (inbox_event.event_time, inbox_event.position)
            AND (earlier.holds_until IS NULL OR earlier.holds_until > \(dialect.moment))
        """
    }

    /// An event that is sent before an event of the same user; nil if none holds it back.
    func eventBefore(_ id: EventID) throws(DatabaseFailure) -> EventID? {
        try run(
            """
            SELECT earlier.jti FROM inbox_event, inbox_event AS earlier
            WHERE inbox_event.jti = $1 AND \(isHoldingBack) LIMIT 1
            """, id.value
        ).first?.first?.text.flatMap { EventID($0) }
    }

    /// Lets events wait that are still held back. On PostgreSQL, ``dueEvents(_:_:)`` may lock an event
    /// that was released in the meantime, and yet see the earlier event as it was before.
    private func hold(_ positions: [[Value]]) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE inbox_event SET due_at = \(dialect.moment) + \(Self.holdPause)
            WHERE position = $1 AND \(isHeldBack)
            """, each: positions)
    }

    /// How soon an event that is held back is looked at again, in milliseconds.
    private static var holdPause: Int { 60_000 }

    /// Which events are released: a transaction that holds an event back may have begun that pause
    /// after the one that releases it began to wait for it.
    private static var releasedPause: Int { holdPause + 30_000 }

    private func lease(_ values: [[Value]]) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE inbox_event SET lease_owner = $2, due_at = \(dialect.moment) + $3
            WHERE position = $1
            """, each: values)
    }

    /// A damaged event is examined once an hour, and does not hold other events back.
    private func deferDamagedEvent(_ position: Value) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE inbox_event SET due_at = \(dialect.moment) + \(Self.longestWait),
                holds_until = \(dialect.moment), lease_owner = NULL
            WHERE position = $1
            """, position)
        try release(after: "position = $1", position)
    }

    func renewDeliveries(
        _ ids: [EventID], _ lease: Lease
    ) throws(DatabaseFailure) -> Set<EventID> {
        let sql = """
            UPDATE inbox_event SET due_at = \(dialect.moment) + $3
            WHERE jti = $1 AND state = 'pending' AND lease_owner = $2 RETURNING 1
            """
        let answers = try run(sql, each: ids.map { [$0.value] + lease.milliseconds })
        return Set(zip(ids, answers).filter { !$1.isEmpty }.map(\.0))
    }

    /// Records the results of attempts. An event that the application accepted is done, even if its
    /// lease passed to another sender; a failure counts only if its sender still holds the event.
    func note(_ outcomes: [DeliveryOutcome], by owner: String) throws(DatabaseFailure) {
        var counts = CountChanges()
        for outcome in outcomes.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            guard try note(outcome, .text(owner)) else { continue }
            switch outcome.next {
            case .retry: continue
            case .done:
                counts.add(1, InboxState.done)
                counts.add(1, .delivered)
            case .dead:
                counts.add(1, InboxState.dead)
                counts.add(1, .undelivered)
            }
            counts.add(-1, InboxState.pending)
            try release(after: "jti = $1", outcome.id.value)
        }
        try counts.write(to: self)
    }

    /// - Returns: whether the outcome counts.
    private func note(
        _ outcome: DeliveryOutcome, _ owner: Value
    ) throws(DatabaseFailure) -> Bool {
        let ending = "changed_at = \(dialect.now), due_at = NULL, holds_until = NULL"
        let change: (sql: String, values: [Value])
        switch outcome.next {
        case .done: change = ("state = 'done', last_error = NULL, \(ending)", [])
        case .dead:
            change = ("state = 'dead', last_error = $3, \(ending)", [Value(outcome.error)])
        case .retry(let delay):
            change = (
                """
                last_error = $3, due_at = \(dialect.moment) + $4,
                    holds_until = COALESCE(holds_until, \(dialect.moment) + $5)
                """,
                [
                    Value(outcome.error), .integer(delay.wholeMilliseconds),
                    .integer(DeliveryOutcome.hold.wholeMilliseconds),
                ]
            )
        }
        let isHeld = outcome.next == .done ? "($2 = $2)" : "lease_owner = $2"
        let sql = """
            UPDATE inbox_event SET attempts = attempts + 1, lease_owner = NULL, \(change.sql)
            WHERE jti = $1 AND state = 'pending' AND \(isHeld) RETURNING 1
            """
        return try !run(sql, [outcome.id.value, owner] + change.values).isEmpty
    }

    /// Makes the user's next event due after an event that no longer holds it back. An event that
    /// failed itself and is not due within a minute and a half keeps its own wait.
    ///
    /// - Parameter condition: selects the event that no longer holds back others, with `$1` for
    ///   `value`.
    func release(after condition: String, _ value: Value) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE inbox_event SET due_at = \(dialect.moment)
            WHERE position = (
                    SELECT position FROM inbox_event
                    WHERE user_id = (SELECT user_id FROM inbox_event WHERE \(condition))
                        AND state = 'pending'
                        AND (event_time, position)
                            > (SELECT event_time, position FROM inbox_event WHERE \(condition))
                    ORDER BY event_time, position LIMIT 1)
                AND lease_owner IS NULL AND due_at <= \(dialect.moment) + \(Self.releasedPause)
            """, value)
    }

    /// Ends all leases, because no process is running.
    func endDeliveryLeases() throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE inbox_event SET lease_owner = NULL, due_at = \(dialect.moment)
            WHERE state = 'pending' AND lease_owner IS NOT NULL
            """)
    }
}

extension DueDelivery {
    fileprivate init(_ row: inout CheckedRow) throws(DamagedColumn) {
        let id = try row.eventID()
        let body = try row.bytes("body")
        let attempts = try row.integer("attempts", in: .attempts)
        let begin = try row.date("changed_at")
        self.init(
            id: id, body: body, attempts: attempts, age: max(try row.date("now") - begin, .zero))
    }
}

extension Lease {
    /// The owner, and the duration of the lease.
    var milliseconds: [Value] { [.text(owner), .integer(duration.wholeMilliseconds)] }
}

extension Duration {
    /// Rounded down; at most a hundred years.
    var wholeMilliseconds: Int {
        let longest = Duration.seconds(3_155_760_000)
        return Int(clamping: Int64((min(max(self, .zero), longest) / .milliseconds(1))))
    }
}
