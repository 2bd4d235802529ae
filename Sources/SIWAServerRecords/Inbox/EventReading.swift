internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

// Pages of events, and what they need to know about deleted ones.
extension Database {
    /// Verified events after a cursor, in the order of commit, or that the cursor is unknown.
    func events(
        _ selection: EventSelection, after cursor: EventCursor?, _ limit: Int
    ) throws(DatabaseFailure) -> EventReading {
        let history = try eventHistory()
        let start = cursor ?? history.start
        let mark = try mark(at: start.position)
        guard cursor == nil || history.continues(start, markThere: mark) else {
            return .unknownCursor(restart: history.start)
        }
        let types = selection.types
        let isSelected =
            "type \(types.isIn) (\(types.names.map { "'\($0)'" }.joined(separator: ", ")))"
        let rows = try run(
            """
            SELECT mark, \(InboxEntry.columns) FROM inbox_event
            WHERE position > $1 AND \(Self.isShown) AND \(isSelected)
            ORDER BY position LIMIT $2
            """, .integer(start.position), .integer(limit))
        let page = InboxPage(rows.map { Array($0.dropFirst()) })
        var next = EventCursor(
            position: start.position, mark: start.mark, round: history.round)
        if let last = rows.last(where: { $0[1].integer == page.next }), let position = page.next {
            next = history.cursor(at: position, mark: last[0].integer ?? 0)
        }
        if rows.count < limit {
            // All others up to the newest are of other types: the next page need not pass them.
            let newest = try newestEvent(in: history)
            if newest.position > next.position { next = newest }
        }
        return .page(EventPage(events: page, cursor: next))
    }

    /// After the newest event that a page would show.
    func newestEvent(in history: EventHistory) throws(DatabaseFailure) -> EventCursor {
        let row = try run(
            """
            SELECT position, mark FROM inbox_event WHERE position > 0 AND \(Self.isShown)
            ORDER BY position DESC LIMIT 1
            """
        ).first
        guard let position = row?.first?.integer, let mark = row?.last?.integer,
            ClosedRange.positions.contains(position)
        else { return history.start }
        return history.cursor(at: position, mark: mark)
    }

    /// Whether a page shows an event.
    private static var isShown: String {
        let hidden = InboxState.allCases.filter { !$0.isShown }.map { "'\($0.rawValue)'" }
        return "state NOT IN (\(hidden.joined(separator: ", "))) AND body IS NOT NULL"
    }

    /// The mark at a position, also of a deleted event that no page would have shown.
    private func mark(at position: Int) throws(DatabaseFailure) -> Int? {
        for table in ["inbox_event", "inbox_mark"] {
            let rows = try run("SELECT mark FROM \(table) WHERE position = $1", .integer(position))
            if let mark = rows.first?.first?.integer { return mark }
        }
        return nil
    }

    /// What the inbox remembers about deleted events.
    func eventHistory() throws(DatabaseFailure) -> EventHistory {
        let rows = try run(
            """
            SELECT name, value FROM server_count
            WHERE name IN ('deletion_level', 'deletion_mark', 'deletion_round')
            """)
        func value(_ name: String) -> Int? {
            rows.first { $0[0].text == name }?[1].integer.flatMap { $0 < 0 ? nil : $0 }
        }
        guard let level = value("deletion_level"), let mark = value("deletion_mark"),
            let round = value("deletion_round")
        else {
            throw DatabaseFailure(.damaged, "the inbox does not know which events were deleted")
        }
        return EventHistory(level: level, levelMark: mark, round: round)
    }

    /// Notes the deletion of events, within a writing transaction.
    func note(deleted: [DeletedEvent]) throws(DatabaseFailure) {
        guard deleted.contains(where: \.wasVerified) else { return }
        // Locks the row, so that another process that deletes events waits.
        _ = try run("UPDATE server_count SET value = value WHERE name = 'deletion_level'")
        let old = try eventHistory()
        var history = old
        let kept = history.note(deleted: deleted, newRound: .newMark)
        if history != old {
            _ = try run(
                "UPDATE server_count SET value = $2 WHERE name = $1",
                each: [
                    [.text("deletion_level"), .integer(history.level)],
                    [.text("deletion_mark"), .integer(history.levelMark)],
                    [.text("deletion_round"), .integer(history.round)],
                ])
        }
        if kept.areOldOnesUseless {
            _ = try run("DELETE FROM inbox_mark WHERE position < $1", .integer(history.level))
        }
        _ = try run(
            "INSERT INTO inbox_mark (position, mark) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            each: kept.new.map { [.integer($0.position), .integer($0.mark)] })
    }
}

extension EventSelection {
    /// The types that a page has, or lacks.
    fileprivate var types: (isIn: String, names: [String]) {
        switch self {
        case .apples: ("NOT IN", EventType.own.map(\.rawValue))
        case .types(let types): ("IN", types.map(\.rawValue).sorted())
        }
    }
}

extension Int {
    /// A random number that no other event has, and no other deletion. The events of a commit count
    /// up from it, which leaves them within the 56 bits of a cursor.
    static var newMark: Int { .random(in: 1..<1 << 55) }
}
