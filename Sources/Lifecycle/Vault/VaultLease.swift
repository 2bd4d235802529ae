/// Who holds claimed records, and for how long. Leases run by the database's clock, so machines
/// with different clocks agree. When a lease has ended, others may claim the record.
package struct VaultLease: Hashable, Sendable {
    /// One run of one process.
    package let owner: String
    /// Whole seconds.
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
    /// Claimed rows that cannot be read: the same owner does not get them again.
    package var damaged: [DamagedRecord]
    /// Whether all records were searched, and none is left for the owner. A claim reads a bounded
    /// number of them: until then, one that found nothing is to be followed by another.
    package var isComplete: Bool
    /// The time that is left, at least, before others can claim them, from before the call.
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
    /// The time that is left, at least, before others can claim them, from before the call.
    package let remaining: Duration

    /// Describes a renewal.
    package init(held: Set<VaultRecordID>, remaining: Duration) {
        (self.held, self.remaining) = (held, remaining)
    }
}

/// Records that other owners hold.
package struct VaultLeasedByOthers: Hashable, Sendable {
    /// How many.
    package let count: Int
    /// How long until the last of them can be claimed, unless its lease is renewed; zero without
    /// records.
    package let remaining: Duration

    /// Describes the leases of others.
    package init(count: Int, remaining: Duration) {
        (self.count, self.remaining) = (count, remaining)
    }
}
