internal import SIWALifecycle
internal import SIWAVaultRecords

/// The outcome of the erasure of a user.
package enum UserErasure: Hashable, Sendable {
    /// Nothing about the user is left.
    case erased
    /// A revocation of the user's tokens is pending.
    case revocationPending
    /// A token of the user may still work.
    case tokenMayWork
}
