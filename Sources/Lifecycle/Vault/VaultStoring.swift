package import JOSE

// How tokens come into the vault.
extension Vault {
    /// Stores a token that Apple just issued. A token that is stored already becomes active.
    ///
    /// - Returns: its record.
    @discardableResult
    package func store(
        _ token: RefreshToken, for user: VaultUser, at now: NumericDate
    ) throws(VaultError) -> VaultRecord {
        let fingerprint = try TokenFingerprint(of: token)
        let new = try sealed(
            token, fingerprint,
            as: VaultRecord(
                id: VaultRecordID(user, fingerprint), state: .active, keyNumber: currentKey,
                sealed: [], storedAt: now, changedAt: now))
        var stored = new
        try change([user], isSealing: true) { draft throws(VaultError) in
            if let known = draft.records[new.id] {
                // What is in the database may be broken; the token in hand is not.
                draft.put(known.encrypted(as: new))
                draft.apply(.issued, to: new.id, VaultEventDetails(), at: now)
            } else {
                draft.put(new)
                draft.note(.stored, of: new, at: now)
            }
            stored = draft.records[new.id] ?? new
        }
        return stored
    }

    /// Takes tokens in, in one transaction.
    ///
    /// - Parameter overwritesStates: known tokens get the state and times of their items.
    @discardableResult
    package func take(
        _ items: [VaultItem], overwritesStates: Bool = false, at now: NumericDate
    ) throws(VaultError) -> VaultImportCounts {
        var counts = VaultImportCounts()
        try change(items.users, isSealing: true) { draft throws(VaultError) in
            counts = VaultImportCounts()
            for item in items {
                try take(item, overwritesStates, into: &draft, &counts, at: now)
            }
        }
        return counts
    }

    /// Counts what ``take(_:overwritesStates:at:)`` would do, and changes nothing.
    ///
    /// - Parameter preview: what the items before these would have changed.
    package func preview(
        _ items: [VaultItem], overwritesStates: Bool = false,
        after preview: inout VaultImportPreview, at now: NumericDate
    ) throws(VaultError) -> VaultImportCounts {
        var draft = try VaultDraft(store.records(of: items.users), in: self, isConverting: true)
        for item in items {
            let fingerprint = try TokenFingerprint(of: item.token)
            guard let record = preview.record(VaultRecordID(item.user, fingerprint)) else {
                continue
            }
            draft.put(try sealed(item.token, fingerprint, as: record))
        }
        var counts = VaultImportCounts()
        for item in items {
            try take(item, overwritesStates, into: &draft, &counts, at: now)
        }
        for update in draft.changes.updates { preview.note(update.record) }
        return counts
    }

    private func take(
        _ item: VaultItem, _ overwritesStates: Bool, into draft: inout VaultDraft,
        _ counts: inout VaultImportCounts, at now: NumericDate
    ) throws(VaultError) {
        let fingerprint = try TokenFingerprint(of: item.token)
        guard let known = draft.records[VaultRecordID(item.user, fingerprint)] else {
            draft.put(try sealed(item.token, fingerprint, as: item.newRecord(fingerprint)))
            counts.imported += 1
            return
        }
        var next = known.after(item, overwritesStates: overwritesStates)
        // The fingerprint is authenticated: a record that can be decrypted holds this token.
        if (try? token(of: known)) == nil {
            next = next.encrypted(as: try sealed(item.token, fingerprint, as: next))
        }
        guard next != known else { return counts.unchanged += 1 }
        counts.updated += 1
        draft.put(next)
        if next.state != known.state {
            draft.note(VaultHistoryEvent(next.state), of: next, at: now)
        }
    }
}

/// What became of the tokens that were imported.
package struct VaultImportCounts: Hashable, Sendable {
    /// Tokens that are new.
    package var imported = 0
    /// Known tokens that changed.
    package var updated = 0
    /// Known tokens that did not change.
    package var unchanged = 0

    /// Initially empty.
    package init() {}

    /// The counts of two groups.
    package static func += (left: inout Self, right: Self) {
        left.imported += right.imported
        left.updated += right.updated
        left.unchanged += right.unchanged
    }
}

extension VaultRecord {
    /// What an import makes of a known token. It changes only from `active` or `revoking`, and only
    /// if the item's state is from a later time; nothing becomes active again.
    ///
    /// - Parameter overwritesStates: state and times become those of the item in any case.
    func after(_ item: VaultItem, overwritesStates: Bool) -> Self {
        var next = self
        if overwritesStates {
            (next.state, next.changedAt) = (item.state, item.changedAt)
            (next.storedAt, next.checkedAt) = (item.storedAt, item.checkedAt)
        } else if [.active, .revoking].contains(state), item.state != .active,
            item.state != state, item.changedAt > changedAt
        {
            (next.state, next.changedAt) = (item.state, item.changedAt)
            next.checkedAt = [checkedAt, item.checkedAt].compactMap(\.self).max()
        }
        return next
    }

    /// This record with the encrypted token of another.
    fileprivate func encrypted(as other: VaultRecord) -> Self {
        var next = self
        (next.keyNumber, next.sealed) = (other.keyNumber, other.sealed)
        return next
    }
}

extension [VaultItem] {
    fileprivate var users: [VaultUser] { Set(map(\.user)).sorted() }
}

extension VaultItem {
    fileprivate func newRecord(_ fingerprint: TokenFingerprint) -> VaultRecord {
        VaultRecord(
            id: VaultRecordID(user, fingerprint), state: state, keyNumber: 0, sealed: [],
            storedAt: storedAt, changedAt: changedAt, checkedAt: checkedAt)
    }
}
