internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// The records of a vault that a batch claims, and the event that is recorded with the claim.
package struct VaultClaim: Sendable {
    let vault: Vault
    /// The records that are claimed at a time.
    let filter: @Sendable (NumericDate) -> VaultFilter
    let lease: Lease
    /// The event recorded before a request is sent; nil if no request is sent.
    let intent: VaultEvent?
    /// The number of records to hold at once.
    let size: Int
    /// Reads the current keys.
    let keys: @Sendable () throws -> VaultKeyRing
    /// The records whose claims are waited for; nil ends the run when no record is free.
    let awaited: VaultFilter?
    /// How often records that are awaited are looked for.
    let patience: Duration
    /// Whether no more records are claimed.
    let isOver: @Sendable (NumericDate) -> Bool

    /// Claims what a filter selects, until no record is free.
    package init(
        _ vault: Vault, _ filter: VaultFilter, for lease: Lease, intent: VaultEvent? = nil,
        size: Int, keys: @escaping @Sendable () throws -> VaultKeyRing
    ) {
        (self.vault, self.lease, self.intent) = (vault, lease, intent)
        (self.size, self.keys, awaited) = (size, keys, nil)
        (self.filter, patience, isOver) = ({ _ in filter }, .zero, { _ in false })
    }

    /// Claims what becomes due with time, until nothing is left.
    ///
    /// - Parameters:
    ///   - filter: the records that are due at a time.
    ///   - awaited: all records that are due before the end.
    ///   - patience: how often those that are not due yet are looked for.
    ///   - isOver: whether it ends all the same.
    package init(
        _ vault: Vault, due filter: @escaping @Sendable (NumericDate) -> VaultFilter,
        of awaited: VaultFilter, every patience: Duration,
        until isOver: @escaping @Sendable (NumericDate) -> Bool, for lease: Lease, size: Int,
        keys: @escaping @Sendable () throws -> VaultKeyRing
    ) {
        (self.vault, self.filter, self.lease, intent) = (vault, filter, lease, nil)
        (self.size, self.keys, self.awaited) = (size, keys, awaited)
        (self.patience, self.isOver) = (patience, isOver)
    }

    /// The token of one of the records at a time; nil without any. Claims nothing.
    package func first(at now: NumericDate) throws(StoreError) -> RefreshToken? {
        let filter = filter(now)
        var last: VaultRowKey?
        // A page can be empty although more follow.
        while true {
            let page = try vault.store.records(filter, after: last, limit: 1)
            if let first = page.records.first { return try vault.token(of: first) }
            guard let next = page.next else { return nil }
            last = next
        }
    }

    /// How many records it will probably claim, of those at a time; nil if only reading them tells.
    package func expected(at now: NumericDate) throws(StoreError) -> Int? {
        let filter = filter(now)
        return filter.looksIntoRecords ? nil : try vault.store.expectedRecords(filter)
    }

    /// The records that other runs have leased at a time.
    package func leasedByOthers(at now: NumericDate) throws(StoreError) -> VaultLeasedByOthers {
        try vault.store.leasedByOthers(than: lease.owner, filter(now))
    }
}

extension VaultStore {
    /// The most records that a filter may select.
    package func expectedRecords(
        _ filter: VaultFilter = VaultFilter()
    ) throws(StoreError) -> Int {
        try counts(of: filter.clientID).reduce(0) { sum, count in
            filter.states.isEmpty || filter.states.contains(count.key) ? sum + count.value : sum
        }
    }
}
