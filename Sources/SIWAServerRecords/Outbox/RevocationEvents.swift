package import SIWAJOSE
package import SIWALifecycle
internal import SIWAVaultRecords

/// What happens when a revocation ends whose caller was told to poll it, and when the daily validation
/// finds a token dead.
package enum RevocationEvents: Hashable, Sendable {
    /// Nothing.
    case off
    /// It becomes an event of the inbox, which the application pulls.
    case kept
    /// It becomes an event that is delivered to the application.
    case delivered
}

extension InboxEvent {
    /// The time of events without one. They are outside their users' order: no earlier event holds
    /// them back, because none is earlier.
    package static let timeless = NumericDate(-62_167_219_200)

    /// The user of events that are about no known user.
    package static let unknownUser = UserID(unchecked: "-")

    /// The end of a revocation; nil while it is pending.
    package init?(endOf revocation: RevocationStatus) {
        let request = revocation.request
        guard revocation.state != .pending, let endedAt = revocation.endedAt,
            let id = EventID("siwa-revocation-\(request.id)")
        else { return nil }
        let clientID = request.clientID ?? revocation.jobs.first?.clientID
        let type = EventType.revocationEnded.rawValue
        let members: [JSON.Member?] = [
            .init("type", .string(type)), .init("revocation_id", .string(request.id)),
            request.userID.map { .init("user_id", .string($0.rawValue)) },
            request.clientID.map { .init("client_id", .string($0.rawValue)) },
            .init("state", .string(revocation.state.rawValue)),
            .init("requested_at", .string(request.requestedAt.rfc3339)),
            .init("ended_at", .string(endedAt.rfc3339)), .init("jti", .string(id.rawValue)),
        ]
        self.init(
            id: id, type: type,
            user: VaultUser(
                clientID ?? ClientID(unchecked: "-"), request.userID ?? Self.unknownUser),
            occurredAt: Self.timeless, receivedAt: endedAt, expiresAt: endedAt,
            body: JSON.object(members.compactMap(\.self)).bytes)
    }
}
