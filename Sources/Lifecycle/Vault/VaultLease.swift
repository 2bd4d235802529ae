/// The owner of claimed records, and the duration of the claim. Leases are measured by the
/// database's clock, so machines with different clocks agree. When a lease has ended, others may
/// claim the record.
package struct VaultLease: Hashable, Sendable {
    /// A random id of one run of one process.
    package let owner: String
    /// The duration, in whole seconds.
    package let duration: Duration

    /// A lease of `duration` for `owner`.
    package init(owner: String, duration: Duration) {
        (self.owner, self.duration) = (owner, duration)
    }
}

/// Records that were claimed.
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

    /// Describes a claim.
    package init(
        records: [VaultRecord], damaged: [DamagedRecord], isComplete: Bool, remaining: Duration
    ) {
        (self.records, self.damaged) = (records, damaged)
        (self.isComplete, self.remaining) = (isComplete, remaining)
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
