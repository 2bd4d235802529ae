package import SIWAJOSE
package import SIWALifecycle

/// Selects entries of the history.
package struct VaultHistoryFilter: Hashable, Sendable {
    /// Entries about this user: also those under the ids that the user had before an app transfer,
    /// or has since then.
    package var userID: UserID?
    /// Entries about tokens of this client; nil for all clients.
    package var clientID: ClientID?
    /// Entries from this moment on.
    package var since: NumericDate?
    /// Entries before this moment.
    package var until: NumericDate?
    /// Entries of these events; empty for all.
    package var events: [VaultHistoryEvent]

    /// Selects entries.
    package init(
        userID: UserID? = nil, clientID: ClientID? = nil, since: NumericDate? = nil,
        until: NumericDate? = nil, events: [VaultHistoryEvent] = []
    ) {
        (self.userID, self.clientID) = (userID, clientID)
        (self.since, self.until, self.events) = (since, until, events)
    }

    /// Whether the filter selects an entry.
    ///
    /// - Parameter ids: all ids of the user, for ``userID``.
    package func matches(_ entry: VaultHistoryEntry, ids: Set<UserID> = []) -> Bool {
        (userID == nil || ids.contains(entry.user.userID)
            || entry.newUserID.map(ids.contains) ?? false)
            && (clientID == nil || entry.user.clientID == clientID)
            && (since.map { entry.at >= $0 } ?? true) && (until.map { entry.at < $0 } ?? true)
            && (events.isEmpty || events.contains(entry.event))
    }
}

/// Where an entry is in the order of the history: by time, then by number.
package struct VaultHistoryPosition: Hashable, Comparable, Sendable {
    /// In seconds since 1970.
    package let at: Int
    /// The number of the row.
    package let number: Int

    /// Creates a position from the time and the number of an entry.
    package init(at: Int, number: Int) { (self.at, self.number) = (at, number) }

    /// The order of the history.
    package static func < (left: Self, right: Self) -> Bool {
        (left.at, left.number) < (right.at, right.number)
    }
}

/// Some entries, the oldest first, and the damaged rows among them.
package struct VaultHistoryPage: Hashable, Sendable {
    /// The entries that can be read.
    package var entries: [VaultHistoryEntry]
    /// The faults of the rows that cannot be read.
    package var damaged: [StoreError]
    /// The position of the last row: the next page begins after it. Nil if the page is empty,
    /// which is the end.
    package var next: VaultHistoryPosition?

    /// A page; an empty one is the end.
    package init(
        entries: [VaultHistoryEntry] = [], damaged: [StoreError] = [],
        next: VaultHistoryPosition? = nil
    ) {
        (self.entries, self.damaged, self.next) = (entries, damaged, next)
    }
}
