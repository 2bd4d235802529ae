/// How long a run may send what it has leased, from a claim or a renewal on. A pure value.
///
/// The monotonic clock limits it, because others may find a lease void that is not renewed
/// (``VaultLeaseWatch``). The database decides who holds an item, by a clock that may be set past
/// the lease and back again while another run claims the item: so the database is asked before
/// every attempt, unless it has just answered.
package struct VaultHold: Hashable, Sendable {
    /// The monotonic time after which nothing may be sent.
    package let deadline: Duration
    /// The monotonic time before the database confirmed the lease last.
    private var confirmed: Duration

    /// - Parameters:
    ///   - remaining: the least time until others can claim the items, from before the call.
    ///   - elapsed: the monotonic clock before the call.
    package init(_ remaining: Duration, since elapsed: Duration) {
        deadline = elapsed + min(remaining / 2, Self.longest)
        confirmed = elapsed
    }

    /// Whether the database must be asked before an attempt.
    package func isDoubtful(at elapsed: Duration) -> Bool {
        elapsed - confirmed >= Self.certainty
    }

    /// Notes that the database confirmed the lease.
    ///
    /// - Parameter elapsed: the monotonic clock before the call.
    package mutating func confirm(at elapsed: Duration) { confirmed = max(confirmed, elapsed) }

    /// Half of the lease is for requests in flight; the limit ends well before
    /// ``VaultLeaseWatch/patience``.
    package static let longest = Duration.seconds(120)
    /// How long an answer of the database is believed: less than most requests are in flight.
    package static let certainty = Duration.milliseconds(100)
}
