import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

extension EventID {
    /// Event `number` of many.
    static func sample(_ number: Int) throws -> Self { try #require(EventID("event-\(number)")) }
}

extension IncomingEvent {
    /// - Parameters:
    ///   - user: the number of the event's user.
    ///   - time: when it happened, in seconds after a fixed moment.
    static func sample(
        _ number: Int, of user: Int = 1, at time: Int = 0, isDelivered: Bool = true,
        revokesConsent: Bool = false, verifying unverified: EventID? = nil,
        expiresAt: Int = 2_000_000_000
    ) throws -> IncomingEvent {
        let user = VaultUser.sample(user)
        let moment = NumericDate(1_790_000_000 + time)
        return IncomingEvent(
            InboxEvent(
                id: try .sample(number), type: "consent-revoked", user: user, occurredAt: moment,
                receivedAt: NumericDate(1_790_000_000), expiresAt: NumericDate(expiresAt),
                body: Array("{\"number\":\(number)}".utf8)),
            isDelivered: isDelivered,
            notice: revokesConsent ? VaultNotice(.consentRevoked(at: moment), users: [user]) : nil,
            verifying: unverified)
    }
}

extension UnverifiedNotification {
    static func sample(_ number: Int, of user: Int = 1) throws -> Self {
        let payload = Array("payload \(number)".utf8)
        return Self(
            id: try EventID(unverified: payload), payload: payload, type: "consent-revoked",
            user: .sample(user), occurredAt: NumericDate(1_790_000_000),
            receivedAt: NumericDate(1_790_000_000))
    }
}

extension ServerStore {
    /// Keeps events that mean nothing to the vault.
    @discardableResult
    func receive(_ events: [IncomingEvent]) throws -> InboxReceipt {
        try receive(events) { _, _ in VaultChanges() }
    }

    /// Claims up to `limit` deliveries of both kinds.
    func claimDeliveries(limit: Int, for lease: Lease) throws -> DueDeliveries {
        try claimDeliveries(
            DeliveryRoom(firstAttempts: limit, retries: limit, total: limit), for: lease)
    }

    /// The events of all types after a cursor.
    func page(after cursor: EventCursor? = nil, limit: Int = 10) throws -> EventPage {
        switch try events(.types(Set(EventType.allCases)), after: cursor, limit: limit) {
        case .page(let page): page
        case .unknownCursor: throw StoreError(.recordDamaged, "the cursor is unknown")
        }
    }

    /// Claims deliveries for an hour; the numbers of the events.
    func claimed(_ owner: String = "a", limit: Int = 100) throws -> [Int] {
        try claimDeliveries(limit: limit, for: .long(owner)).deliveries.map(\.number)
    }

    /// The states of all events, by their ids.
    func states() throws -> [String: InboxState] {
        let page = try inbox(InboxFilter(), before: nil, limit: 10_000)
        return Dictionary(
            page.entries.map { ($0.id.rawValue, $0.state) }, uniquingKeysWith: { first, _ in first }
        )
    }
}

extension DueDelivery {
    /// The number of a sample.
    var number: Int { Int(id.rawValue.split(separator: "-").last ?? "") ?? -1 }
}

extension ServerCounts {
    /// Without those that are zero.
    var present: [InboxState: Int] { inbox.filter { $0.value != 0 } }
}
