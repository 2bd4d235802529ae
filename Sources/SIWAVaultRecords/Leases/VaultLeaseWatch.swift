internal import SIWALifecycle

/// A lease that ends later than any lease can: the clock of its owner was wrong, or somebody changed
/// the row.
package struct VaultStrayLease: Hashable, Sendable {
    /// The row.
    package let row: VaultRowKey
    /// The owner of the lease, as the database has it.
    package let owner: [UInt8]
    /// When it ends, in seconds since 1970; any number is possible.
    package let end: Int

    /// Describes a lease.
    package init(row: VaultRowKey, owner: [UInt8], end: Int) {
        (self.row, self.owner, self.end) = (row, owner, end)
    }
}

/// Decides which of the leases that end too late are void: the clock by which they end cannot be
/// trusted, so they are observed by this process's monotonic clock. A run that is alive renews its
/// leases, and each renewal changes their end. A pure value.
package struct VaultLeaseWatch: Sendable {
    private struct Sighting: Sendable {
        let owner: [UInt8]
        let end: Int
        let since: Duration
        /// Whether the lease was another one before: then its run is alive.
        let isRenewed: Bool
    }

    private var sightings: [VaultRowKey: Sighting] = [:]

    /// How long a lease must stay unchanged to be void.
    package static let patience = Duration.seconds(180)

    /// Begins before the first look.
    package init() {}

    /// What a look at the leases shows.
    package struct Verdict: Hashable, Sendable {
        /// The leases that are void.
        package var void: [VaultStrayLease] = []
        /// The time until the next lease may be void; nil if there is no lease to wait for.
        package var wait: Duration?

        /// Nothing to end, and nothing to wait for.
        package init() {}
    }

    /// Takes all leases that end too late now. Leases that are missing are forgotten.
    ///
    /// - Parameter now: the time by the monotonic clock.
    package mutating func look(
        at leases: [VaultStrayLease], at now: Duration
    ) -> Verdict {
        var (verdict, seen) = (Verdict(), [VaultRowKey: Sighting]())
        for lease in leases {
            let last = sightings[lease.row]
            let isSame = last?.owner == lease.owner && last?.end == lease.end
            let sighting =
                isSame
                ? last
                : Sighting(
                    owner: lease.owner, end: lease.end, since: now, isRenewed: last != nil)
            guard let sighting else { continue }
            let age = now - sighting.since
            if age >= Self.patience {
                verdict.void.append(lease)
            } else {
                seen[lease.row] = sighting
                guard !sighting.isRenewed else { continue }
                verdict.wait = min(verdict.wait ?? Self.patience, Self.patience - age)
            }
        }
        sightings = seen
        return verdict
    }
}
