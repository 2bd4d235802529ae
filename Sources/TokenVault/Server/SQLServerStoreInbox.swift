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
            let users = Set(new.flatMap { $0.notice?.users ?? [] }).sorted()
            let page = try database.records(of: users, isLocking: true)
            receipt.damaged = page.damaged
            let changes = try lifting { () throws(VaultError) in try decide(new, page) }
            try database.write(changes, releasing: nil)
            receipt.stored = try database.insert(new, &counts)
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

    func events(after position: Int, limit: Int) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.events(after: position, limit)
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

    func claimDeliveries(
        limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueDeliveries {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimDeliveries(limit, lease)
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
