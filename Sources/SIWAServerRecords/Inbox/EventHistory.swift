internal import SIWALifecycle
internal import SIWAVaultRecords

/// What an inbox remembers about deleted events: it decides whether a cursor may be continued. A
/// pure value.
package struct EventHistory: Hashable, Sendable {
    /// The deletion level: the highest position of a deleted event that a page would have shown.
    package private(set) var level = 0
    /// The mark of that event.
    package private(set) var levelMark = 0
    /// A random number, another one after each deletion of events that a page would have shown. In
    /// two histories with the same round, the same events were deleted.
    package private(set) var round = 0

    /// Nothing was deleted.
    package init() {}

    /// Creates a value from what is stored.
    package init(level: Int, levelMark: Int, round: Int) {
        (self.level, self.levelMark, self.round) = (level, levelMark, round)
    }

    /// Before all events that are left.
    package var start: EventCursor { .start(in: round) }

    /// After an event.
    package func cursor(at position: Int, mark: Int) -> EventCursor {
        EventCursor(position: position, mark: mark, round: round)
    }

    /// Whether the events after a cursor's position are all that its holder has not seen.
    ///
    /// The cursor's event must be of this history, whose earlier events are then those that the
    /// holder read; and nothing after it may have been deleted since the cursor was issued.
    ///
    /// - Parameter mark: the mark at the cursor's position; nil if there is no event, and none was
    ///   deleted without raising the level.
    package func continues(_ cursor: EventCursor, markThere mark: Int?) -> Bool {
        let isOfThisHistory =
            cursor.position == 0
            || cursor.mark != nil
                && (cursor.mark == mark
                    || cursor.position == level && cursor.mark == levelMark)
        return isOfThisHistory && (level <= cursor.position || round == cursor.round)
    }

    /// Notes the deletion of events.
    ///
    /// - Parameter round: a new random number.
    /// - Returns: which marks are kept, because a cursor may stand at their positions.
    package mutating func note(deleted: [DeletedEvent], newRound round: Int) -> KeptMarks {
        let shown = deleted.filter(\.wasShown)
        if let highest = shown.max(by: { $0.position < $1.position }) {
            if highest.position > level {
                (level, levelMark) = (highest.position, highest.mark)
            }
            self.round = round
        }
        // Every cursor below the level is of an earlier round now.
        let hidden = deleted.filter { !$0.wasShown && $0.wasVerified }
        return KeptMarks(
            new: shown.isEmpty ? hidden : hidden.filter { $0.position > level },
            areOldOnesUseless: !shown.isEmpty)
    }

    /// Which marks of deleted events are kept.
    package struct KeptMarks: Hashable, Sendable {
        /// Deleted events whose marks are kept.
        package let new: [DeletedEvent]
        /// Whether the marks that were kept before are useless below the level.
        package let areOldOnesUseless: Bool
    }
}

/// An event that was deleted.
package struct DeletedEvent: Hashable, Sendable {
    /// Its position.
    package let position: Int
    /// Its mark.
    package let mark: Int
    /// Whether a page would have shown it until now. Discarded events and those whose contents were
    /// erased are not shown, because an operator decided so.
    package let wasShown: Bool
    /// Whether it was ever verified: a page may have shown it before.
    package let wasVerified: Bool

    /// Creates an event.
    package init(position: Int, mark: Int, wasShown: Bool, wasVerified: Bool) {
        (self.position, self.mark) = (position, mark)
        (self.wasShown, self.wasVerified) = (wasShown, wasVerified)
    }
}

/// The answer to a question for events.
package enum EventReading: Hashable, Sendable {
    /// The events after a cursor.
    case page(EventPage)
    /// The cursor is of another history, or events after it were deleted: begin again.
    case unknownCursor(restart: EventCursor)
}

/// Events in the order of their commits.
package struct EventPage: Hashable, Sendable {
    /// The events, and the errors of unreadable rows among them.
    package let events: InboxPage
    /// After the last of them.
    package let cursor: EventCursor

    /// Creates a page.
    package init(events: InboxPage, cursor: EventCursor) {
        (self.events, self.cursor) = (events, cursor)
    }
}
