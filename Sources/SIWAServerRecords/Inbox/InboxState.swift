internal import SIWALifecycle
internal import SIWAVaultRecords

/// The state of an event in the inbox.
package enum InboxState: String, Hashable, Sendable, CaseIterable {
    /// It waits for its delivery.
    case pending
    /// The application accepted it.
    case done
    /// It was not delivered within seven days.
    case dead
    /// An operator, or the erasure of its user, cancelled its delivery.
    case discarded
    /// No delivery was configured when it was received.
    case none
    /// Its signature cannot be verified until Apple's keys can be fetched.
    case unverified
    /// Its signature could not be verified for seven days.
    case rejected

    /// Whether Apple's signature of the event was verified.
    package var isVerified: Bool { self != .unverified && self != .rejected }

    /// Whether a page shows events in this state, unless their contents were erased.
    package var isShown: Bool { isVerified && self != .discarded }
}
