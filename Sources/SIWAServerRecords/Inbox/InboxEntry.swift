package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// An event as the inbox lists it.
package struct InboxEntry: Hashable, Sendable {
    /// The `jti`, or the id of an unverified payload.
    package let id: EventID
    /// Its place in the inbox, in the order of commit.
    package let position: Int
    /// The type of the event.
    package let type: String
    /// The client and the user that it is about.
    package let user: VaultUser
    /// When it happened.
    package let occurredAt: NumericDate
    /// When it was received.
    package let receivedAt: NumericDate
    /// Whether it is to be delivered, or how that ended.
    package let state: InboxState
    /// The number of attempts to deliver it.
    package let attempts: Int
    /// When it is sent next; nil unless it is pending.
    package let nextAttemptAt: NumericDate?
    /// Why the last attempt failed; nil without a failed attempt.
    package let lastError: String?
    /// An earlier event of the same user that is sent first; nil if none is, or if that was not
    /// asked.
    package var waitsFor: EventID?
    /// The delivered body, or an unverified payload; nil after the user's events were erased.
    package let body: [UInt8]?

    /// Creates an entry.
    package init(
        id: EventID, position: Int, type: String, user: VaultUser, occurredAt: NumericDate,
        receivedAt: NumericDate, state: InboxState, attempts: Int, nextAttemptAt: NumericDate?,
        lastError: String?, body: [UInt8]?
    ) {
        (self.id, self.position, self.type, self.user) = (id, position, type, user)
        (self.occurredAt, self.receivedAt, self.state) = (occurredAt, receivedAt, state)
        (self.attempts, self.nextAttemptAt) = (attempts, nextAttemptAt)
        (self.lastError, self.body) = (lastError, body)
    }
}

/// Which events are listed.
package struct InboxFilter: Hashable, Sendable {
    /// Events of these states; all events if empty.
    package var states: [InboxState]
    /// Events of this type.
    package var type: String?
    /// Events about this user.
    package var userID: UserID?
    /// Events received at this time or later.
    package var since: NumericDate?

    /// Creates a filter; every event passes unless limited.
    package init(
        states: [InboxState] = [], type: String? = nil, userID: UserID? = nil,
        since: NumericDate? = nil
    ) {
        (self.states, self.type, self.userID, self.since) = (states, type, userID, since)
    }
}

/// Some events of the inbox in the order of commit, and the damaged rows among them.
package struct InboxPage: Hashable, Sendable {
    /// The readable events.
    package var entries: [InboxEntry] = []
    /// The errors of unreadable rows.
    package var damaged: [StoreError] = []
    /// The position of the last row; nil if there are no more.
    package var next: Int?

    /// An empty page.
    package init() {}

    /// Whether the page is empty.
    package var isEmpty: Bool { entries.isEmpty && damaged.isEmpty }
}

/// The events that an operator selects.
package enum InboxSelection: Hashable, Sendable {
    /// The events with these ids.
    case events([EventID])
    /// All events in a state.
    case state(InboxState)
}
