internal import SIWAJOSE
internal import SIWAServerRecords

/// In any history of commits, deletions and restores, callers that keep their cursors get every
/// event, or an error saying that they may have missed some. A text that is read as a cursor is
/// written unchanged.
func checkCursor(_ input: [UInt8]) throws(Violation) {
    if let cursor = EventCursor(String(decoding: input, as: UTF8.self)), cursor.mark != nil {
        try demand(EventCursor(cursor.text) == cursor, "a cursor reads as it was written")
    }
    var world = CursorWorld()
    // Each step is two bytes: what happens, and to what.
    for index in stride(from: 0, to: min(input.count, 1000) - 1, by: 2) {
        try world.step(input[index], Int(input[index + 1]))
    }
    for caller in 0..<CursorWorld.callerCount { try world.read(caller, limit: .max) }
}

/// A database with an inbox, its backups, and callers that pull.
private struct CursorWorld {
    /// A row of the inbox.
    struct Row {
        let position, mark: Int
        var isVerified = true
        var isHidden = false

        var isShown: Bool { isVerified && !isHidden }
    }

    /// What a backup copies.
    struct Database {
        var rows: [Row] = []
        var lastPosition = 0
        var keptMarks: [Int: Int] = [:]
        var history = EventHistory()
        /// The marks of deleted events that a page would have shown. Not part of the database: the
        /// rule compares with it.
        var deleted: Set<Int> = []
    }

    /// A caller, with what it was told.
    struct Caller {
        var cursor: String?
        var seen: Set<Int> = []
        /// Events that were gone when it was told to begin again.
        var excused: Set<Int> = []
    }

    static let callerCount = 3
    private var database = Database()
    private var backups = [Database](repeating: Database(), count: 2)
    private var callers = [Caller](repeating: Caller(), count: callerCount)
    /// The events that an operator hid in any history: callers may pass them there, and a restore
    /// shows them again.
    private var hidden: Set<Int> = []
    /// Stands for randomness: no number comes twice, in whatever history.
    private var lastNumber = 0

    private mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func step(_ kind: UInt8, _ value: Int) throws(Violation) {
        switch kind % 9 {
        case 0, 1: commit(isVerified: value % 8 != 0)
        case 2: hide(value)
        case 3: delete { row, index in row.isVerified && (index + value) % 3 == 0 }
        case 4: delete { row, index in row.isVerified && index <= value % 16 }
        case 5: delete { row, _ in !row.isVerified }
        case 6: backups[value % backups.count] = database
        case 7: database = backups[value % backups.count]
        default: try read(value % Self.callerCount, limit: value / 16 + 1)
        }
    }

    private mutating func commit(isVerified: Bool) {
        database.lastPosition += 1
        database.rows.append(
            Row(position: database.lastPosition, mark: newNumber(), isVerified: isVerified))
    }

    /// An operator discards an event, or erases its contents.
    private mutating func hide(_ value: Int) {
        guard !database.rows.isEmpty else { return }
        let index = value % database.rows.count
        database.rows[index].isHidden = true
        hidden.insert(database.rows[index].mark)
    }

    private mutating func delete(_ isChosen: (Row, Int) -> Bool) {
        let chosen = database.rows.enumerated().filter { isChosen($0.element, $0.offset) }
            .map(\.element)
        let positions = Set(chosen.map(\.position))
        database.rows.removeAll { positions.contains($0.position) }
        let events = chosen.map {
            DeletedEvent(
                position: $0.position, mark: $0.mark, wasShown: $0.isShown,
                wasVerified: $0.isVerified)
        }
        let kept = database.history.note(deleted: events, newRound: newNumber())
        let level = database.history.level
        if kept.areOldOnesUseless {
            database.keptMarks = database.keptMarks.filter { $0.key >= level }
        }
        for event in kept.new { database.keptMarks[event.position] = event.mark }
        database.deleted.formUnion(chosen.filter(\.isShown).map(\.mark))
    }

    mutating func read(_ number: Int, limit: Int) throws(Violation) {
        let history = database.history
        let given = callers[number].cursor.map { EventCursor($0) }
        if let given, given == nil { throw Violation("a cursor is accepted by its own server") }
        let cursor = given ?? nil
        let start = cursor ?? history.start
        let mark =
            database.rows.first { $0.position == start.position }?.mark
            ?? database.keptMarks[start.position]
        if cursor == nil { callers[number].excused.formUnion(database.deleted) }
        guard cursor == nil || history.continues(start, markThere: mark) else {
            callers[number].cursor = history.start.text
            callers[number].excused.formUnion(database.deleted)
            try demand(
                history.continues(history.start, markThere: nil), "a new beginning is accepted")
            return
        }
        let page = database.rows.filter { $0.isShown && $0.position > start.position }
            .prefix(limit)
        callers[number].seen.formUnion(page.map(\.mark))
        let next =
            page.last.map { history.cursor(at: $0.position, mark: $0.mark) }
            ?? EventCursor(position: start.position, mark: start.mark, round: history.round)
        callers[number].cursor = next.text
        try checkNothingSkipped(callers[number], upTo: next.position)
    }

    private func checkNothingSkipped(_ caller: Caller, upTo position: Int) throws(Violation) {
        let passed = database.rows.filter { $0.isShown && $0.position <= position }.map(\.mark)
        // A restore shows events again that were gone when the caller was told to begin.
        let known = caller.seen.union(hidden).union(caller.excused)
        try demand(known.isSuperset(of: passed), "no event before the cursor was skipped")
        try demand(
            known.isSuperset(of: database.deleted),
            "the caller was told about deleted events that it has not seen")
    }
}
