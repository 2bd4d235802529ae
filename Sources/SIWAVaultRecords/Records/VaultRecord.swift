package import SIWAJOSE
internal import SIWALifecycle

/// Identifies one stored token: its client, its user and its fingerprint.
package struct VaultRecordID: Hashable, Sendable {
    /// The client and user that the token belongs to.
    package let user: VaultUser
    /// Which of the user's tokens.
    package let fingerprint: TokenFingerprint

    /// Names a token of a user.
    package init(_ user: VaultUser, _ fingerprint: TokenFingerprint) {
        (self.user, self.fingerprint) = (user, fingerprint)
    }
}

extension VaultRecordID: Comparable {
    /// The order of records: by client, user and fingerprint, each by its UTF-8.
    package static func < (left: Self, right: Self) -> Bool {
        (left.user, left.fingerprint) < (right.user, right.fingerprint)
    }
}

extension VaultRecordID: CustomStringConvertible {
    /// The name of the record in messages.
    package var description: String {
        "token \(fingerprint) of '\(user.userID)' of \(user.clientID)"
    }
}

/// One stored refresh token. Only the token itself is encrypted.
package struct VaultRecord: Hashable, Sendable {
    /// The id of the token.
    package let id: VaultRecordID
    /// The state of the token.
    package var state: VaultState
    /// The number of the key that encrypts the token.
    package var keyNumber: Int
    /// The encrypted token, made by ``VaultKeyRing``.
    package var sealed: [UInt8]
    /// When the token was stored.
    package var storedAt: NumericDate
    /// When Apple issued the identity token of the sign-in (its `iat`); nil if that is not known.
    package var signedInAt: NumericDate?
    /// When the state last changed.
    package var changedAt: NumericDate
    /// When Apple last answered a refresh of the token; nil if never.
    package var checkedAt: NumericDate?

    /// Describes a record.
    package init(
        id: VaultRecordID, state: VaultState, keyNumber: Int, sealed: [UInt8],
        storedAt: NumericDate, signedInAt: NumericDate? = nil, changedAt: NumericDate,
        checkedAt: NumericDate? = nil
    ) {
        (self.id, self.state, self.keyNumber, self.sealed) = (id, state, keyNumber, sealed)
        (self.storedAt, self.signedInAt) = (storedAt, signedInAt)
        (self.changedAt, self.checkedAt) = (changedAt, checkedAt)
    }

    /// The client and user that the token belongs to.
    package var user: VaultUser { id.user }

    /// The same record with another id.
    func renamed(_ id: VaultRecordID) -> Self {
        Self(
            id: id, state: state, keyNumber: keyNumber, sealed: sealed, storedAt: storedAt,
            signedInAt: signedInAt, changedAt: changedAt, checkedAt: checkedAt)
    }
}

// The effect of events on a record.
extension VaultRecord {
    /// The record after `event`; unchanged if the event does not concern the token.
    package func after(_ event: VaultEvent, at now: NumericDate) -> Self {
        var next = self
        if let state = newState(after: event) {
            next.state = state
            if state != self.state { next.changedAt = now }
        }
        switch event {
        case .issued: next.storedAt = now
        case .refreshed, .refreshRefused: next.checkedAt = now
        case .revocationBegun, .revoked, .consentRevoked, .accountDeleted: break
        }
        return next
    }

    /// Nil if the state does not change.
    private func newState(after event: VaultEvent) -> VaultState? {
        switch event {
        case .issued: .active
        case .revocationBegun: .revoking
        // The state of a notification that arrived during the revocation is more specific.
        case .revoked: state == .revoking ? .revoked : nil
        case .refreshed: state == .dead ? .active : nil
        // A record in `revoking` keeps its state: its revocation will find the token dead.
        case .refreshRefused: state == .active ? .dead : nil
        // A token of a later sign-in is not concerned.
        case .consentRevoked(let moment):
            isSignedIn(before: moment) && [.active, .dead].contains(state) ? .consentRevoked : nil
        case .accountDeleted(let moment):
            isSignedIn(before: moment) && state != .revoked ? .accountDeleted : nil
        }
    }

    /// Whether the token's sign-in was before a moment. Within the same second, the sign-in counts
    /// as later: Apple's times have no smaller unit.
    private func isSignedIn(before moment: NumericDate) -> Bool {
        (signedInAt ?? storedAt) < moment
    }
}
