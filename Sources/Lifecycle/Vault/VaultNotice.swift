package import JOSE

/// A notification from Apple about a user that affects stored tokens.
package struct VaultNotice: Hashable, Sendable {
    /// What happened to the user.
    package let event: VaultEvent
    /// The user with each client of the team.
    package let users: [VaultUser]

    /// Describes a notification; nil if its event does not affect tokens.
    package init?(_ event: NotificationEvent, users: [VaultUser]) {
        switch event.kind {
        case .consentRevoked: self.event = .consentRevoked(at: event.occurredAt)
        case .accountDeleted: self.event = .accountDeleted(at: event.occurredAt)
        default: return nil
        }
        self.users = users
    }

    /// Describes what happened to users.
    package init(_ event: VaultEvent, users: [VaultUser]) {
        (self.event, self.users) = (event, users)
    }
}

extension Vault {
    /// The changes that notices cause to the records of their users.
    ///
    /// - Parameter page: all records of these users. Records of siwa 0.1 keep their format.
    package func changes(
        after notices: [VaultNotice], of page: VaultPage, at now: NumericDate
    ) throws(VaultError) -> VaultChanges {
        var draft = try VaultDraft(page, in: self, isConverting: false)
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
