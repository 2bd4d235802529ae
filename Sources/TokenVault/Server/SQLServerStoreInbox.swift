internal import Lifecycle
internal import ServerRecords

// The inbox and its deliveries.
extension SQLServerStore {
    func receive(
        _ events: [IncomingEvent],
        _ decide: ([IncomingEvent], VaultPage) throws(VaultError) -> VaultChanges
    ) throws(VaultError) -> InboxReceipt {
        try counting { database, counts throws(DatabaseFailure) in
            var receipt = InboxReceipt()
            let new = try database.new(among: events)
            // Before the records are read, as by those that store tokens: otherwise a token that is
            // stored at the same time would miss the event.
            let first = new.isEmpty ? 0 : try database.takePositions(new.count)
            let users = Set(new.flatMap { $0.notice?.users ?? [] }).sorted()
            let page = try database.records(of: users, isLocking: true)
            receipt.damaged = page.damaged
            let changes = try lifting { () throws(VaultError) in try decide(new, page) }
            try database.write(changes, releasing: nil)
            receipt.stored = try database.insert(new, at: first, &counts)
            try database.deleteUnverified(events.compactMap(\.unverified), &counts)
            return receipt
        }
    }

    func keep(
        _ notification: UnverifiedNotification, limit: Int
    ) throws(VaultError) -> UnverifiedNotification.Outcome {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.insert(notification, limit: limit)
        }
    }

    func unverified(after position: Int, limit: Int) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.unverified(after: position, limit)
        }
    }

    func settle(
        _ ids: [EventID], as verdict: UnverifiedNotification.Verdict
    ) throws(VaultError) {
        try counting { database, counts throws(DatabaseFailure) in
            switch verdict {
            case .forged: try database.deleteUnverified(ids, &counts)
            case .rejected: try database.reject(ids, &counts)
            }
        }
    }

    func events(
        _ selection: EventSelection, after cursor: EventCursor?, limit: Int
    ) throws(VaultError) -> EventReading {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.events(selection, after: cursor, limit)
        }
    }

    func newestEvent() throws(VaultError) -> EventCursor {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.newestEvent(in: try database.eventHistory())
        }
    }

    func inbox(
        _ filter: InboxFilter, before position: Int?, limit: Int
    ) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.inbox(filter, before: position, limit)
        }
    }

    func inboxEvent(_ id: EventID) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.inboxEvent(id)
        }
    }

    func replay(_ selection: InboxSelection) throws(VaultError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.replay(selection)
        }
    }

    func discard(_ ids: [EventID]) throws(VaultError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in try database.discard(ids) }
    }

    func forget(_ userID: UserID) throws(VaultError) -> Int {
        try counting { database, counts throws(DatabaseFailure) in
            try database.forget(.text(userID.rawValue), &counts)
        }
    }

    func purge(_ retention: Retention, limit: Int) throws(VaultError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.purge(retention, limit)
        }
    }

    func bringBackParked() throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.bringBackParked()
        }
    }

    func claimDeliveries(
        _ room: DeliveryRoom, for lease: VaultLease
    ) throws(VaultError) -> DueDeliveries {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimDeliveries(room, lease)
        }
    }

    func renewDeliveries(
        _ ids: [EventID], for lease: VaultLease
    ) throws(VaultError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renewDeliveries(ids, lease)
        }
    }

    func note(_ outcomes: [DeliveryOutcome], by owner: String) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(outcomes, by: owner)
        }
    }
}
