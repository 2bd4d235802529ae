package import JOSE

/// A notification of Apple's about a user, as far as it concerns stored tokens.
package struct VaultNotice: Hashable, Sendable {
    /// What happened to the user.
    package let event: VaultEvent
    /// The user, as each client of the team knows them.
    package let users: [VaultUser]

    /// Describes a notification; nil if its event says nothing about tokens.
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
    /// What notices make of the records of their users.
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
