internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
package import SIWAVaultRecords

extension InboxEvent {
    /// A token that no longer works, from the entry of the history that says so; nil for any other
    /// entry. A token that works again and dies again has another event.
    package init?(deathIn entry: VaultHistoryEntry) {
        let fingerprint = entry.fingerprint.rawValue
        guard entry.event == .dead,
            let id = EventID("siwa-token-\(fingerprint)-\(entry.at.seconds)")
        else { return nil }
        let type = EventType.tokenDead.rawValue
        let members: [JSON.Member] = [
            .init("type", .string(type)), .init("user_id", .string(entry.user.userID.rawValue)),
            .init("client_id", .string(entry.user.clientID.rawValue)),
            .init("token_fingerprint", .string(fingerprint)),
            .init("dead_at", .string(entry.at.rfc3339)), .init("jti", .string(id.rawValue)),
        ]
        self.init(
            id: id, type: type, user: entry.user, occurredAt: Self.timeless, receivedAt: entry.at,
            expiresAt: entry.at, body: JSON.object(members).bytes)
    }
}

extension Database {
    /// Adds events that siwa-server itself makes. They hold back no event of their users, and are not
    /// counted as received.
    func announce(
        _ own: [InboxEvent], _ events: RevocationEvents, _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        guard !own.isEmpty, events != .off else { return }
        let first = try takePositions(own.count)
        // What was announced before is not announced again.
        let new = try new(
            among: own.map {
                IncomingEvent($0, isDelivered: events == .delivered, notice: nil)
            }
        ).events
        try insert(new, at: first, &counts)
        counts.add(-new.count, .received)
        _ = try run(
            "UPDATE inbox_event SET holds_until = 0 WHERE jti = $1",
            each: new.map { [$0.event.id.value] })
    }
}

extension ServerStore {
    /// Returns a view of the vault that announces tokens which become dead, in the transaction that
    /// says so.
    package func vault(announcing events: RevocationEvents) -> any VaultStore {
        guard events != .off else { return vault }
        return vault(
            alongside: { database, changes throws(DatabaseFailure) in
                var counts = CountChanges()
                try database.announce(
                    changes.history.compactMap { InboxEvent(deathIn: $0) }, events, &counts)
                try counts.write(to: database)
            },
            notices: { database, _ throws(DatabaseFailure) in
                // Everyone who adds events locks it before tokens.
                try database.lockPosition()
                return []
            })
    }
}
