internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// Adding, changing and deleting events of the inbox, within a writing transaction.
extension Database {
    /// The events that are not in the inbox yet, and their ids. A repeated id is used once.
    func new(
        among events: [IncomingEvent]
    ) throws(DatabaseFailure) -> (events: [IncomingEvent], ids: Set<EventID>) {
        let sql = "SELECT 1 FROM inbox_event WHERE jti = $1"
        let found = try run(sql, each: events.map { [$0.event.id.value] })
        var ids = Set<EventID>(minimumCapacity: events.count)
        let new = events.indices.filter { index in
            found[index].isEmpty && ids.insert(events[index].event.id).inserted
        }
        return (new.map { events[$0] }, ids)
    }

    /// Adds events that are not in the inbox; nobody else can add one meanwhile, because positions
    /// were taken.
    ///
    /// - Parameter first: the first of the positions.
    func insert(
        _ events: [IncomingEvent], at first: Int, _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        guard !events.isEmpty else { return }
        // Marks that count up from a random number: the system is asked for one number a commit.
        let firstMark = Int.newMark
        _ = try run(
            inserting,
            each: events.indices.map { index in
                events[index].values(at: first + index, mark: firstMark + index)
            })
        let delivered = events.count(where: \.isDelivered)
        counts.add(delivered, InboxState.pending)
        counts.add(events.count - delivered, InboxState.none)
        counts.add(events.count, .received)
    }

    /// Events that wait for verification have no `due_at`, nor have those without a subscriber.
    private var inserting: String {
        """
        INSERT INTO inbox_event (position, jti, type, client_id, user_id, event_time,
            received_at, expires_at, state, changed_at, due_at, body, mark)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, \(dialect.now),
            CASE WHEN $9 = 'pending' THEN \(dialect.moment) END, $10, $11)
        """
    }

    /// Adds a payload that cannot be verified yet. They are counted in a transaction in which
    /// others cannot add one.
    func insert(
        _ notification: UnverifiedNotification, limit: Int
    ) throws(DatabaseFailure) -> UnverifiedNotification.Outcome {
        let position = try takePositions(1)
        let known = try run(
            "SELECT 1 FROM inbox_event WHERE jti = $1", .text(notification.id.rawValue))
        guard known.isEmpty else { return .known }
        guard try count(.unverified) < limit else { return .full }
        _ = try run(inserting, notification.values(at: position))
        var counts = CountChanges()
        counts.add(1, InboxState.unverified)
        try counts.write(to: self)
        return .kept
    }

    /// Deletes payloads that were verified or are forged.
    func deleteUnverified(
        _ ids: [EventID], _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        let sql = "DELETE FROM inbox_event WHERE jti = $1 AND state = 'unverified' RETURNING 1"
        let answers = try run(sql, each: ids.map { [.text($0.rawValue)] })
        counts.add(-answers.count { !$0.isEmpty }, InboxState.unverified)
    }

    /// Rejects payloads that could not be verified for too long.
    func reject(_ ids: [EventID], _ counts: inout CountChanges) throws(DatabaseFailure) {
        for id in ids { try move([.unverified], to: .rejected, "jti = $1", id.value, &counts) }
    }

    /// Moves events to another state, which ends their leases.
    ///
    /// - Parameters:
    ///   - states: the states that they may have now.
    ///   - condition: selects the events, with `$1` for `value`.
    ///   - change: other columns that change.
    /// - Returns: their ids.
    @discardableResult
    func move(
        _ states: [InboxState], to state: InboxState, _ condition: String, _ value: Value,
        setting change: String = "due_at = NULL", _ counts: inout CountChanges
    ) throws(DatabaseFailure) -> Set<EventID> {
        var moved: Set<EventID> = []
        for old in states {
            let sql = """
                UPDATE inbox_event SET state = $2, changed_at = \(dialect.now),
                    lease_owner = NULL, \(change)
                WHERE \(condition) AND state = $3 RETURNING jti
                """
            let rows = try run(sql, value, .text(state.rawValue), .text(old.rawValue))
            moved.formUnion(rows.compactMap { $0.first?.text.flatMap { EventID($0) } })
            counts.add(-rows.count, old)
            counts.add(rows.count, state)
        }
        return moved
    }

    /// Makes events pending with zero attempts. An event that is being sent is not changed.
    func replay(_ selection: InboxSelection) throws(DatabaseFailure) -> Set<EventID> {
        let change = """
            due_at = \(dialect.moment), attempts = 0, last_error = NULL,
                holds_until = CASE WHEN event_time = \(InboxEvent.timeless.seconds) THEN 0 END
            """
        var counts = CountChanges()
        var replayed: Set<EventID> = []
        switch selection {
        case .events(let ids):
            for id in ids.map(\.value) {
                replayed.formUnion(
                    try move(
                        [.done, .dead, .discarded, .none], to: .pending,
                        "body IS NOT NULL AND jti = $1", id, setting: change, &counts))
                replayed.formUnion(
                    try move(
                        [.pending], to: .pending, "lease_owner IS NULL AND jti = $1", id,
                        setting: change, &counts))
            }
        case .state(let state) where state.isVerified:
            replayed = try move(
                [state], to: .pending, "body IS NOT NULL AND lease_owner IS NULL AND state = $1",
                .text(state.rawValue), setting: change, &counts)
        case .state: break
        }
        try counts.write(to: self)
        return replayed
    }

    func discard(_ ids: [EventID]) throws(DatabaseFailure) -> Set<EventID> {
        var counts = CountChanges()
        var discarded: Set<EventID> = []
        for id in ids {
            let moved = try move([.pending, .dead], to: .discarded, "jti = $1", id.value, &counts)
            if !moved.isEmpty { try release(after: "jti = $1", id.value) }
            discarded.formUnion(moved)
        }
        try counts.write(to: self)
        return discarded
    }

    /// Erases the contents of a user's events. Their ids stay: Apple may send them again.
    func forget(_ user: Value, _ counts: inout CountChanges) throws(DatabaseFailure) -> Int {
        try move([.pending, .dead], to: .discarded, "user_id = $1", user, &counts)
        var erased = 0
        for state in [InboxState.unverified, .rejected] {
            let count = try run(
                "DELETE FROM inbox_event WHERE user_id = $1 AND state = $2 RETURNING 1", user,
                .text(state.rawValue)
            ).count
            counts.add(-count, state)
            erased += count
        }
        erased += try run(
            """
            UPDATE inbox_event SET body = NULL, last_error = NULL
            WHERE user_id = $1 AND body IS NOT NULL RETURNING 1
            """, user
        ).count
        return erased
    }
}

extension EventID {
    var value: Value { .text(rawValue) }
}

extension IncomingEvent {
    fileprivate func values(at position: Int, mark: Int) -> [Value] {
        let state: InboxState = isDelivered ? .pending : .none
        return [
            .integer(position), event.id.value, .text(event.type),
            .text(event.user.clientID.rawValue), .text(event.user.userID.rawValue),
            .integer(event.occurredAt.seconds), .integer(event.receivedAt.seconds),
            .integer(event.expiresAt.seconds), .text(state.rawValue), .bytes(event.body),
            .integer(mark),
        ]
    }
}

extension UnverifiedNotification {
    fileprivate func values(at position: Int) -> [Value] {
        [.integer(position), id.value, .text(type)] + user.values + [
            .integer(occurredAt.seconds), .integer(receivedAt.seconds),
            .integer(receivedAt.seconds), .text(InboxState.unverified.rawValue), .bytes(payload),
            .integer(.newMark),
        ]
    }
}
