/// A stored refresh token: all of it can be read without a key but the token.
public struct VaultRecord: Hashable, Sendable {
    /// Whose it is.
    public let user: VaultUser
    /// How far its life has come.
    public var state: VaultState
    /// The key it is sealed with.
    public var keyNumber: Int
    /// How many times the user's token was sealed, from 1: an older copy does not open in the
    /// place of a newer one.
    public var version: Int
    /// The token, as ``VaultKeyRing`` sealed it.
    public var sealed: [UInt8]
    /// When the token was stored.
    public var storedAt: NumericDate
    /// When the state last changed.
    public var changedAt: NumericDate
    /// When Apple last answered a refresh of it; nil for never.
    public var checkedAt: NumericDate?

    /// Describes a record.
    public init(
        user: VaultUser, state: VaultState, keyNumber: Int, version: Int, sealed: [UInt8],
        storedAt: NumericDate, changedAt: NumericDate, checkedAt: NumericDate? = nil
    ) {
        (self.user, self.state, self.keyNumber) = (user, state, keyNumber)
        (self.version, self.sealed) = (version, sealed)
        (self.storedAt, self.changedAt, self.checkedAt) = (storedAt, changedAt, checkedAt)
    }
}

// What comes of an event.
extension VaultRecord {
    /// Whether this still holds the token of `earlier`: nothing else was stored since, though a
    /// move to another key may have sealed it anew. Versions do not tell: a record that was
    /// removed and made anew begins at 1 again.
    func hasToken(of earlier: Self) -> Bool {
        sealed == earlier.sealed
            || keyNumber != earlier.keyNumber && storedAt == earlier.storedAt
    }

    /// The record after `event`; unchanged where the event is not about what it holds now.
    public func after(_ event: VaultEvent, at now: NumericDate) -> Self {
        var next = self
        if let state = newState(after: event) {
            next.state = state
            if state != self.state { next.changedAt = now }
        }
        switch event {
        case .refreshed, .refreshRefused: next.checkedAt = now
        case .revocationBegun, .revoked, .consentRevoked, .accountDeleted: break
        }
        return next
    }

    /// Nil where it stays as it is.
    private func newState(after event: VaultEvent) -> VaultState? {
        switch event {
        case .revocationBegun: .revoking
        // What Apple notified of meanwhile says more.
        case .revoked: state == .revoking ? .revoked : nil
        case .refreshed: state == .dead ? .active : nil
        // An intent to revoke outlives it: who carries it out finds the token dead.
        case .refreshRefused: state == .active ? .dead : nil
        // A token that was stored after the event belongs to a new sign-in.
        case .consentRevoked(let moment):
            moment >= storedAt && [.active, .dead].contains(state) ? .consentRevoked : nil
        case .accountDeleted(let moment): moment >= storedAt ? .accountDeleted : nil
        }
    }
}
