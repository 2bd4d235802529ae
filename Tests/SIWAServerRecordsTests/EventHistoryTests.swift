import SIWAServerRecords
import Testing

/// Which cursors a history of an inbox continues.
@Suite struct EventHistoryTests {
    private func shown(_ position: Int) -> DeletedEvent {
        DeletedEvent(position: position, mark: position * 7, wasShown: true, wasVerified: true)
    }

    private func hidden(_ position: Int, wasVerified: Bool = true) -> DeletedEvent {
        DeletedEvent(
            position: position, mark: position * 7, wasShown: false, wasVerified: wasVerified)
    }

    @Test func `a cursor continues from an event that still exists with its mark`() {
        let history = EventHistory()
        let cursor = history.cursor(at: 5, mark: 35)
        #expect(history.continues(cursor, markThere: 35))
        #expect(!history.continues(cursor, markThere: 36))
        #expect(!history.continues(cursor, markThere: nil))
        let bare = EventCursor(position: 5, mark: nil, round: nil)
        #expect(!history.continues(bare, markThere: nil))
        #expect(!history.continues(bare, markThere: 35))
    }

    @Test func `an initial cursor is valid until events are deleted`() {
        var history = EventHistory()
        let start = history.start
        #expect(history.continues(start, markThere: nil))
        _ = history.note(deleted: [shown(3)], newRound: 1)
        #expect(!history.continues(start, markThere: nil))
        #expect(history.continues(history.start, markThere: nil))
    }

    @Test func `a cursor is unknown if events after its position were deleted`() {
        var history = EventHistory()
        let (before, at, after) = (
            history.cursor(at: 2, mark: 14), history.cursor(at: 3, mark: 21),
            history.cursor(at: 4, mark: 28)
        )
        _ = history.note(deleted: [shown(1), shown(3)], newRound: 1)
        #expect(!history.continues(before, markThere: 14))
        // The level's own.
        #expect(history.continues(at, markThere: nil))
        #expect(!history.continues(EventCursor(position: 3, mark: 22, round: 0), markThere: nil))
        #expect(history.continues(after, markThere: 28))
        #expect(history.continues(history.cursor(at: 2, mark: 14), markThere: 14))
    }

    /// The level itself does not change then.
    @Test func `a cursor below the deletion level is unknown if events below it were deleted`() {
        var history = EventHistory()
        _ = history.note(deleted: [shown(9)], newRound: 1)
        let cursor = history.cursor(at: 2, mark: 14)
        _ = history.note(deleted: [shown(5)], newRound: 2)
        #expect(history.level == 9 && history.levelMark == 63)
        #expect(!history.continues(cursor, markThere: 14))
    }

    @Test func `deleted forgeries and discarded events do not raise the deletion level`() {
        var history = EventHistory()
        let cursor = history.cursor(at: 4, mark: 28)
        let kept = history.note(
            deleted: [hidden(4), hidden(6), hidden(7, wasVerified: false)], newRound: 1)
        #expect(history == EventHistory())
        #expect(kept.new == [hidden(4), hidden(6)] && !kept.areOldOnesUseless)
        #expect(history.continues(cursor, markThere: 28))
    }

    @Test func `marks below the deletion level are kept only while a cursor can refer to them`() {
        var history = EventHistory()
        let kept = history.note(deleted: [hidden(2), shown(4), hidden(6)], newRound: 1)
        #expect(kept.areOldOnesUseless && kept.new == [hidden(6)])
        let later = history.note(deleted: [hidden(3)], newRound: 2)
        #expect(later.new == [hidden(3)] && history.round == 1)
    }

    @Test func `a cursor is read as it was written, and other text is refused`() throws {
        let largest = (1 << 56) - 1
        for cursor in [
            EventHistory().cursor(at: 1, mark: 2), EventHistory().start,
            EventCursor(position: largest, mark: largest, round: largest),
        ] {
            #expect(cursor.text.utf8.count == EventCursor.longest)
            #expect(EventCursor(cursor.text) == cursor)
        }
        #expect(EventCursor("30") == EventCursor(position: 30, mark: nil, round: nil))
        let text = EventHistory().cursor(at: 1, mark: 2).text
        for odd in [
            "", "-1", "01", "1 ", "x", "\(1 << 56)", "99999999999999999999", text + "A",
            String(text.dropLast()), "B" + text.dropFirst(), text.dropLast() + "=",
            String(repeating: "é", count: 15),
        ] {
            #expect(EventCursor(String(odd)) == nil, "\(odd)")
        }
    }
}
