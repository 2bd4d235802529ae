internal import SIWALifecycle
internal import SIWAVaultRecords

/// The types of events that applications may ask for. Apple may send others, which are delivered
/// and listed as Apple's.
package enum EventType: String, Hashable, Sendable, CaseIterable {
    case consentRevoked = "consent-revoked"
    case accountDeleted = "account-deleted"
    case emailEnabled = "email-enabled"
    case emailDisabled = "email-disabled"
    /// A revocation that was answered 202 has ended.
    case revocationEnded = "revocation.ended"
    /// The daily validation found a token that no longer works.
    case tokenDead = "token.dead"

    /// The types of the events that siwa-server itself adds.
    package static let own = allCases.filter { !$0.isApples }

    /// Whether Apple reports it; siwa-server adds the others itself.
    package var isApples: Bool {
        switch self {
        case .consentRevoked, .accountDeleted, .emailEnabled, .emailDisabled: true
        case .revocationEnded, .tokenDead: false
        }
    }
}

/// Which types of events a page has.
package enum EventSelection: Hashable, Sendable {
    /// Everything that Apple reports, types that are unknown today among them.
    case apples
    /// These types only.
    case types(Set<EventType>)
}
