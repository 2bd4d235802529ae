/// Who holds claimed records, and for how long. Leases run by the database's clock, so machines
/// with different clocks agree. When a lease has ended, others may claim the record.
public struct VaultLease: Hashable, Sendable {
    /// One run of one process.
    public let owner: String
    /// Whole seconds.
    public let duration: Duration

    /// A lease of `duration` for `owner`.
    public init(owner: String, duration: Duration) {
        (self.owner, self.duration) = (owner, duration)
    }
}

/// Records that were claimed.
public struct VaultClaimed: Sendable {
    /// The records as they were before the claim changed them.
    public var records: [VaultRecord]
    /// Claimed rows that cannot be read: the same owner does not get them again.
    public var damaged: [DamagedRecord]
    /// How long nobody else can claim them, at least, counted from before the call.
    public var remaining: Duration

    /// Describes a claim.
    public init(records: [VaultRecord], damaged: [DamagedRecord], remaining: Duration) {
        (self.records, self.damaged, self.remaining) = (records, damaged, remaining)
    }

    /// Whether there was nothing left to claim.
    public var isEmpty: Bool { records.isEmpty && damaged.isEmpty }
}

/// Leases that were extended.
public struct VaultRenewal: Hashable, Sendable {
    /// The records that the owner still holds. Others may have claimed the missing ones.
    public let held: Set<VaultRecordID>
    /// How long nobody else can claim them, at least, counted from before the call.
    public let remaining: Duration

    /// Describes a renewal.
    public init(held: Set<VaultRecordID>, remaining: Duration) {
        (self.held, self.remaining) = (held, remaining)
    }
}

/// Records that other owners hold.
public struct VaultLeasedByOthers: Hashable, Sendable {
    /// How many.
    public let count: Int
    /// How long until the last of them can be claimed, unless its lease is renewed; zero if there
    /// are none.
    public let remaining: Duration

    /// Describes the leases of others.
    public init(count: Int, remaining: Duration) {
        (self.count, self.remaining) = (count, remaining)
    }
}
