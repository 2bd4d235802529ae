internal import SIWADatabases
package import SIWALifecycle
package import SIWAVaultRecords

// The inbox and its deliveries.
extension ServerStore {
    /// Stores events and changes the vault's tokens in the same transaction. Many threads may call
    /// at once; see ``GroupCommit``.
    ///
    /// - Parameter decide: computes the changes from the new events and all records of their users.
    ///   It may be called again, and must not call the store.
    package func receive(
        _ events: [IncomingEvent],
        _ decide: ([IncomingEvent], VaultPage) throws(StoreError) -> VaultChanges
    ) throws(StoreError) -> InboxReceipt {
        try counting { database, counts throws(DatabaseFailure) in
            var receipt = InboxReceipt()
            var (new, ids) = try database.new(among: events)
            // Before the records are read, as by those that store tokens: otherwise a token that is
            // stored at the same time would miss the event.
            let first = new.isEmpty ? 0 : try database.takePositions(new.count)
            // Until the positions were taken, another replica may have stored some of them.
            if !database.dialect.locksEverything { (new, ids) = try database.new(among: new) }
            let users = new.flatMap { $0.notice?.users ?? [] }
            let page = try database.records(of: .users(users), isLocking: true)
            receipt.damaged = page.damaged
            let changes = try lifting { () throws(StoreError) in try decide(new, page) }
            try database.write(changes, releasing: nil)
            try database.insert(new, at: first, &counts)
            receipt.stored = ids
            try database.deleteUnverified(events.compactMap(\.unverified), &counts)
            return receipt
        }
    }

    /// Stores a payload that cannot be verified yet.
    ///
    /// - Parameter limit: the maximum number of stored payloads.
    package func keep(
        _ notification: UnverifiedNotification, limit: Int
    ) throws(StoreError) -> UnverifiedNotification.Outcome {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.insert(notification, limit: limit)
        }
    }

    /// Returns up to `limit` payloads that wait to be verified, in the order of their commits.
    package func unverified(after position: Int, limit: Int) throws(StoreError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.unverified(after: position, limit)
        }
    }

    /// Deletes or rejects payloads that wait to be verified. Receiving a genuine one removes it.
    package func settle(
        _ ids: [EventID], as verdict: UnverifiedNotification.Verdict
    ) throws(StoreError) {
        try counting { database, counts throws(DatabaseFailure) in
            switch verdict {
            case .forged: try database.deleteUnverified(ids, &counts)
            case .rejected: try database.reject(ids, &counts)
            }
        }
    }

    /// Returns up to `limit` verified events after a cursor, in the order of their commits. No
    /// event is ever committed before a position that was read.
    ///
    /// - Parameter cursor: nil for the oldest events.
    package func events(
        _ selection: EventSelection, after cursor: EventCursor?, limit: Int
    ) throws(StoreError) -> EventReading {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.events(selection, after: cursor, limit)
        }
    }

    /// Returns the place of the newest event that a page would show.
    package func newestEvent() throws(StoreError) -> EventCursor {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.newestEvent(in: try database.eventHistory())
        }
    }

    /// Returns up to `limit` events before a position, the newest first.
    package func inbox(
        _ filter: InboxFilter, before position: Int?, limit: Int
    ) throws(StoreError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.inbox(filter, before: position, limit)
        }
    }

    /// Returns one event; an empty page if it does not exist.
    package func inboxEvent(_ id: EventID) throws(StoreError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.inboxEvent(id)
        }
    }

    /// Makes verified events pending again, with zero attempts. Erased events do not change.
    ///
    /// - Returns: the events that are pending now.
    package func replay(_ selection: InboxSelection) throws(StoreError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.replay(selection)
        }
    }

    /// Cancels deliveries.
    ///
    /// - Returns: the events that are discarded now.
    package func discard(_ ids: [EventID]) throws(StoreError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in try database.discard(ids) }
    }

    /// Erases the contents of all events of a user, and cancels their deliveries.
    ///
    /// - Returns: the number of erased events.
    package func forget(_ userID: UserID) throws(StoreError) -> Int {
        try counting { database, counts throws(DatabaseFailure) in
            try database.forget(.text(userID.rawValue), &counts)
        }
    }

    /// Deletes up to `limit` rows of each kind whose retention is over: events, journal,
    /// revocations, hourly counts.
    ///
    /// - Returns: the number of deleted rows; less than `limit` if no more are left.
    package func purge(_ retention: Retention, limit: Int) throws(StoreError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.purge(retention, limit)
        }
    }

    /// Makes work due now that waits longer than any wait may be: a clock was wrong when it was
    /// stored.
    package func bringBackParked() throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.bringBackParked()
        }
    }

    /// Claims due events: only the first pending one of each user, unless that has been failing for
    /// ``DeliveryOutcome/hold``.
    package func claimDeliveries(
        _ room: DeliveryRoom, for lease: Lease
    ) throws(StoreError) -> DueDeliveries {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimDeliveries(room, lease)
        }
    }

    /// Extends leases; returns the events that the owner still holds.
    package func renewDeliveries(
        _ ids: [EventID], for lease: Lease
    ) throws(StoreError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renewDeliveries(ids, lease)
        }
    }

    /// Stores the outcomes of attempts, and ends their leases.
    package func note(_ outcomes: [DeliveryOutcome], by owner: String) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(outcomes, by: owner)
        }
    }
}
