package import SIWAJOSE
package import SIWALifecycle

/// The operations on a vault that need no keys, because they decrypt no token.
package struct KeylessVault: Sendable {
    /// Where the records are kept.
    package let store: any VaultStore
    /// The program that changes the vault, for its history.
    package let actor: VaultActor

    /// Uses a vault without its keys.
    package init(_ store: any VaultStore, by actor: VaultActor) {
        (self.store, self.actor) = (store, actor)
    }

    /// Removes the tokens of a user, damaged rows too.
    ///
    /// - Parameters:
    ///   - fingerprint: removes this token only; nil removes all.
    ///   - isErasing: deletes the user's history as well, under all ids that the user had.
    /// - Returns: what was removed; empty if there were no records.
    package func remove(
        _ user: VaultUser, _ fingerprint: TokenFingerprint? = nil, isErasing: Bool = false,
        at now: NumericDate
    ) throws(StoreError) -> VaultPage {
        var removed = VaultPage()
        let scope = fingerprint.map { VaultScope.tokens([VaultRecordID(user, $0)]) }
        try store.change(scope ?? .users([user]), releasing: nil) { page in
            removed = VaultPage(
                records: page.records, damaged: fingerprint == nil ? page.damaged : [])
            return VaultChanges(
                removals: removed.records.map { VaultRowKey($0.id) } + removed.damaged.map(\.key),
                history: isErasing ? [] : removed.records.map { entry(.removed, $0, at: now) },
                erased: isErasing ? [user] : [])
        }
        return removed
    }

    /// Removes tokens that have been revoked or dead since before `moment`; looks at up to `limit`
    /// records after a row. The history remains.
    ///
    /// - Returns: the number of removed tokens, how many were looked at, and the row to continue
    ///   after; nil at the end.
    package func prune(
        before moment: NumericDate, of clientID: ClientID? = nil, after key: VaultRowKey? = nil,
        limit: Int, at now: NumericDate
    ) throws(StoreError) -> (count: Int, searched: Int, next: VaultRowKey?) {
        let filter = VaultFilter(
            clientID: clientID, states: [.revoked, .dead], changedBefore: moment)
        let page = try store.records(filter, after: key, limit: limit)
        guard !page.records.isEmpty else { return (0, page.searched, page.next) }
        var count = 0
        try store.change(.tokens(page.records.map(\.id)), releasing: nil) { page in
            // A sign-in may have made one of them active in the meantime.
            let old = page.records.filter { filter.matches($0) }
            count = old.count
            return VaultChanges(
                removals: old.map { VaultRowKey($0.id) },
                history: old.map { entry(.pruned, $0, at: now) })
        }
        return (count, page.searched, page.next)
    }

    private func entry(
        _ event: VaultHistoryEvent, _ record: VaultRecord, at now: NumericDate
    ) -> VaultHistoryEntry {
        VaultHistoryEntry(
            at: now, event: event, user: record.user, fingerprint: record.id.fingerprint,
            actor: actor)
    }
}
