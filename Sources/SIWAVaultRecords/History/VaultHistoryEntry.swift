package import SIWAJOSE
package import SIWALifecycle

/// An event of a stored token, by its name in the history.
package enum VaultHistoryEvent: String, Hashable, Sendable, CaseIterable {
    /// The token was stored after a sign-in.
    case stored
    /// A revocation was begun.
    case revoking
    /// Apple accepted the revocation.
    case revoked
    /// Apple refused to refresh the token.
    case dead
    /// The token works again, or Apple issued it again.
    case active
    /// Apple sent a notification that the user withdrew their consent.
    case consentRevoked = "consent_revoked"
    /// Apple sent a notification that the user deleted their Apple Account.
    case accountDeleted = "account_deleted"
    /// The token was removed from the vault.
    case removed
    /// The token moved to the user id that the user has after an app transfer.
    case remapped
    /// The token was removed because it had been revoked or dead for a long time.
    case pruned

    /// The change to a state.
    init(_ state: VaultState) {
        self =
            switch state {
            case .active: .active
            case .revoking: .revoking
            case .revoked: .revoked
            case .dead: .dead
            case .consentRevoked: .consentRevoked
            case .accountDeleted: .accountDeleted
            }
    }

    /// The state that a token has after the event; nil if the event does not say.
    package var state: VaultState? {
        switch self {
        case .stored, .active: .active
        case .revoking: .revoking
        case .revoked: .revoked
        case .dead: .dead
        case .consentRevoked: .consentRevoked
        case .accountDeleted: .accountDeleted
        case .removed, .remapped, .pruned: nil
        }
    }
}

/// The command and the machine that change a vault, for the entries of the history.
package struct VaultActor: Hashable, Sendable {
    /// The command without its arguments, such as `batch revoke`.
    package let command: String
    /// The name of the machine.
    package let host: String

    /// Names a command and a machine.
    package init(command: String, host: String) { (self.command, self.host) = (command, host) }
}

/// The evidence of an event, kept with it in the history.
package struct VaultEventDetails: Hashable, Sendable {
    /// The proof that the token is dead.
    package let evidence: Revocation.Evidence?
    /// The HTTP status of Apple's answer.
    package let httpStatus: Int?
    /// Apple's id of the request.
    package let appleRequestID: String?

    /// Creates the details of an event.
    package init(
        evidence: Revocation.Evidence? = nil, httpStatus: Int? = nil, appleRequestID: String? = nil
    ) {
        (self.evidence, self.httpStatus) = (evidence, httpStatus)
        self.appleRequestID = appleRequestID
    }

    /// The details of a revocation, whose evidence is on record only if it proves something.
    package init(_ revocation: Revocation) {
        self.init(
            evidence: revocation.isProven ? revocation.evidence : nil,
            httpStatus: revocation.answerStatus,
            appleRequestID: revocation.requestID)
    }
}

/// One entry of the history. siwa adds entries and never changes one.
package struct VaultHistoryEntry: Hashable, Sendable {
    /// When it happened, by the clock of the machine that did it.
    package let at: NumericDate
    /// What happened.
    package let event: VaultHistoryEvent
    /// The user of the token at that time.
    package let user: VaultUser
    /// Which token.
    package let fingerprint: TokenFingerprint
    /// The evidence of the event.
    package let details: VaultEventDetails
    /// The command and the machine.
    package let actor: VaultActor
    /// The new user id, for `remapped` only.
    package let newUserID: UserID?

    /// Describes an entry.
    package init(
        at: NumericDate, event: VaultHistoryEvent, user: VaultUser,
        fingerprint: TokenFingerprint, details: VaultEventDetails = VaultEventDetails(),
        actor: VaultActor, newUserID: UserID? = nil
    ) {
        (self.at, self.event, self.user, self.fingerprint) = (at, event, user, fingerprint)
        (self.details, self.actor, self.newUserID) = (details, actor, newUserID)
    }
}
