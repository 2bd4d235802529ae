package import JOSE

/// How long a run may send what it has leased, from a claim or a renewal on. A pure value.
///
/// Two clocks limit it: the monotonic one, because others may find a lease void that is not renewed
/// (``VaultLeaseWatch``), and the wall clock, because on SQLite a lease has ended for others as soon
/// as that clock says so, even if it was set forward.
package struct VaultHold: Hashable, Sendable {
    private let start: NumericDate
    private let remaining: Duration
    private let end: Duration

    /// - Parameters:
    ///   - remaining: the least time until others can claim the items, from before the call.
    ///   - elapsed: the monotonic clock before the call.
    ///   - now: the wall clock before the call.
    package init(_ remaining: Duration, since elapsed: Duration, _ now: NumericDate) {
        (self.remaining, start) = (remaining, now)
        end = elapsed + min(remaining / 2, Self.longest)
    }

    /// The monotonic time after which nothing may be sent; zero if the wall clock says that the lease
    /// has ended.
    package func deadline(at now: NumericDate) -> Duration {
        now - start <= remaining ? end : .zero
    }

    /// Half of the lease is for requests in flight; the limit ends well before
    /// ``VaultLeaseWatch/patience``.
    package static let longest = Duration.seconds(120)
}
