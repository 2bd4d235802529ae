internal import SIWALifecycle

/// The owner of claimed records, and the duration of the claim. Leases are measured by the
/// database's clock, so machines with different clocks agree. When a lease has ended, others may
/// claim the record.
package struct Lease: Hashable, Sendable {
    /// A random id of one run of one process.
    package let owner: String
    /// The duration, in whole seconds.
    package let duration: Duration
    /// Whether it is for revoking. Then its owner takes records over that others only check:
    /// otherwise a token that is always being checked, or whose refusal is held back, would never
    /// be revoked.
    package let isRevoking: Bool

    /// A lease of `duration` for `owner`, who changes the records.
    package init(owner: String, duration: Duration, isRevoking: Bool = false) {
        (self.owner, self.duration, self.isRevoking) = (owner, duration, isRevoking)
    }

    /// A lease for asking Apple whether tokens still work. The owner's name says so, because other
    /// runs see nothing but that name.
    ///
    /// - Parameter run: a random id of one run of one process.
    package static func checking(_ run: String, duration: Duration) -> Self {
        Self(owner: checkPrefix + run, duration: duration)
    }

    /// What the names of owners begin with that only check.
    package static let checkPrefix = "check-"

    /// The longest duration.
    package static let longest = Duration.seconds(3600)

    /// How often the owner renews it: much more often than ``VaultLeaseWatch/patience``, whatever its
    /// duration, so that a living owner is recognised.
    package var renewalInterval: Duration { min(duration / 4, .seconds(30)) }
}

/// Records that were claimed.
///
/// A lease that ends later than ``Lease/longest`` from now is observed, and ended if it is void;
/// see ``VaultLeaseWatch``.
package struct VaultClaimed: Sendable {
    /// The records as they were before the claim changed them.
    package var records: [VaultRecord]
    /// Claimed rows that cannot be read; they are not claimed again for the same owner.
    package var damaged: [DamagedRecord]
    /// Whether all records were searched and none is left for the owner. A claim searches a limited
    /// number of records, so an empty result must be followed by another claim until this is true.
    package var isComplete: Bool
    /// The least time until others can claim them, counted from before the call.
    package var remaining: Duration
    /// Leases of others that were void, and are ended; the next claim finds their records.
    package var voided: [VaultStrayLease]
    /// The time after which the next claim may find a lease void; nil if no lease may become void.
    package var wait: Duration?

    /// Describes a claim.
    package init(
        records: [VaultRecord], damaged: [DamagedRecord], isComplete: Bool, remaining: Duration,
        watch: VaultLeaseWatch.Verdict = VaultLeaseWatch.Verdict()
    ) {
        (self.records, self.damaged) = (records, damaged)
        (self.isComplete, self.remaining) = (isComplete, remaining)
        (voided, wait) = (watch.void, watch.wait)
    }
}

/// Leases that were extended.
package struct VaultRenewal: Hashable, Sendable {
    /// The records that the owner still holds. Others may have claimed the missing ones.
    package let held: Set<VaultRecordID>
    /// The least time until others can claim them, counted from before the call.
    package let remaining: Duration

    /// Describes a renewal.
    package init(held: Set<VaultRecordID>, remaining: Duration) {
        (self.held, self.remaining) = (held, remaining)
    }
}

/// Records that other owners hold.
package struct VaultLeasedByOthers: Hashable, Sendable {
    /// The number of records.
    package let count: Int
    /// The time until the last of them can be claimed, unless its lease is renewed; zero if there
    /// are no records.
    package let remaining: Duration

    /// Describes the leases of others.
    package init(count: Int, remaining: Duration) {
        (self.count, self.remaining) = (count, remaining)
    }
}
