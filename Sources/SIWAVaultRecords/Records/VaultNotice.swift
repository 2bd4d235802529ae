package import SIWAJOSE
package import SIWALifecycle

/// A notification from Apple about a user that affects stored tokens.
package struct VaultNotice: Hashable, Sendable {
    /// What happened to the user.
    package let event: VaultEvent
    /// The user with each client of the team.
    package let users: [VaultUser]

    /// Describes a notification; nil if its event does not affect tokens.
    package init?(_ event: NotificationEvent, users: [VaultUser]) {
        self.init(event.kind, at: event.occurredAt, users: users)
    }

    /// Describes an event of this kind; nil if it does not affect tokens.
    package init?(_ kind: NotificationEvent.Kind, at moment: NumericDate, users: [VaultUser]) {
        switch kind {
        case .consentRevoked: self.init(.consentRevoked(at: moment), users: users)
        case .accountDeleted: self.init(.accountDeleted(at: moment), users: users)
        default: return nil
        }
    }

    /// Describes what happened to users.
    package init(_ event: VaultEvent, users: [VaultUser]) {
        (self.event, self.users) = (event, users)
    }
}

extension Vault {
    /// The changes that notices cause to the records of their users.
    ///
    /// - Parameter page: all records of these users.
    package func changes(
        after notices: [VaultNotice], of page: VaultPage, at now: NumericDate
    ) -> VaultChanges {
        var draft = VaultDraft(page, by: actor)
        for notice in notices {
            for user in notice.users {
                for record in draft.records(of: user) {
                    draft.apply(notice.event, to: record.id, VaultEventDetails(), at: now)
                }
            }
        }
        return draft.changes
    }
}
