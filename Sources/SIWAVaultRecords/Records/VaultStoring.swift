package import SIWAJOSE
package import SIWALifecycle

// Storing and importing tokens.
extension Vault {
    /// Stores a token that Apple just issued. A token that is stored already becomes active. Events
    /// after the sign-in that arrived before the token concern it, too.
    ///
    /// - Parameter signedInAt: the `iat` of the sign-in's identity token.
    /// - Returns: its record.
    /// - Throws: ``StoreError``, of kind `tokenInvalid` for a token that could not be sent later.
    @discardableResult
    package func store(
        _ token: RefreshToken, for user: VaultUser, signedInAt: NumericDate? = nil,
        at now: NumericDate
    ) throws(StoreError) -> VaultRecord {
        try checkStorable(token)
        let fingerprint = try TokenFingerprint(of: token)
        let new = try sealed(
            token,
            as: VaultRecord(
                id: VaultRecordID(user, fingerprint), state: .active, keyNumber: currentKey,
                sealed: [], storedAt: now, signedInAt: signedInAt, changedAt: now))
        var stored = new
        try change(.tokens([new.id])) { draft throws(StoreError) in
            if let row = draft.damagedRow(at: new.id) { throw row.error }
            if let known = draft.records[new.id] {
                // A record that cannot be decrypted must not prevent storing the token.
                var issued = known.encrypted(as: new)
                issued.signedInAt = signedInAt
                draft.put(issued)
                draft.apply(.issued, to: new.id, VaultEventDetails(), at: now)
            } else {
                draft.put(new)
                draft.note(.stored, of: new, at: now)
            }
            draft.applyNotices(to: new.id, at: now)
            stored = draft.records[new.id] ?? new
        }
        return stored
    }

    private func checkStorable(_ token: RefreshToken) throws(StoreError) {
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(token.text)
        } catch {
            throw StoreError(.tokenInvalid, "the token \(error)")
        }
    }

    /// Imports tokens, in one transaction.
    ///
    /// - Parameter overwritesStates: known tokens get the state and times of their items.
    @discardableResult
    package func take(
        _ items: [VaultItem], overwritesStates: Bool = false, at now: NumericDate
    ) throws(StoreError) -> VaultImportCounts {
        var records: [VaultRecord] = []
        for item in items { records.append(try sealed(item)) }
        return try merge(records, overwritesStates: overwritesStates, at: now)
    }

    /// The encrypted record of a token for ``merge(_:overwritesStates:at:)``.
    package func sealed(_ item: VaultItem) throws(StoreError) -> VaultRecord {
        try sealed(item.token, as: item.newRecord(TokenFingerprint(of: item.token)))
    }

    /// Merges encrypted records into the vault, in one transaction. Each is compared with the
    /// current record of its token.
    ///
    /// - Parameter overwritesStates: known tokens get the state and times of these records.
    @discardableResult
    package func merge(
        _ records: [VaultRecord], overwritesStates: Bool = false, at now: NumericDate
    ) throws(StoreError) -> VaultImportCounts {
        let records = try sealedWithCurrentKey(records)
        let past = try past(of: records, overwritesStates)
        var counts = VaultImportCounts()
        try change(.tokens(records.map(\.id))) { draft throws(StoreError) in
            counts = VaultImportCounts()
            for record in records {
                merge(record, overwritesStates, past, into: &draft, &counts, at: now)
            }
        }
        return counts
    }

    /// The states that tokens had before they were removed; empty if states are overwritten.
    private func past(
        of records: [VaultRecord], _ overwritesStates: Bool
    ) throws(StoreError) -> [VaultRecordID: VaultPastState] {
        overwritesStates ? [:] : try store.lastStates(of: records.map(\.id))
    }

    /// Counts what ``merge(_:overwritesStates:at:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - records: in their order.
    ///   - last: the last record of the group before these, as it would be stored; nil before the
    ///     first group. Replaced by the last record of these.
    package func previewMerge(
        _ records: [VaultRecord], overwritesStates: Bool = false, after last: inout VaultRecord?,
        at now: NumericDate
    ) throws(StoreError) -> VaultImportCounts {
        var draft = VaultDraft(try store.records(of: .tokens(records.map(\.id))), by: actor)
        if let last, last.id == records.first?.id { draft.put(last) }
        var counts = VaultImportCounts()
        let past = try past(of: records, overwritesStates)
        for record in records {
            merge(record, overwritesStates, past, into: &draft, &counts, at: now)
        }
        last = records.last.flatMap { draft.records[$0.id] }
        return counts
    }

    /// Another process may have added a newer key since the records were encrypted.
    private func sealedWithCurrentKey(
        _ records: [VaultRecord]
    ) throws(StoreError) -> [VaultRecord] {
        guard records.contains(where: { $0.keyNumber != currentKey }) else { return records }
        var current: [VaultRecord] = []
        for record in records {
            current.append(try sealed(try token(of: record), as: record))
        }
        return current
    }

    private func merge(
        _ new: VaultRecord, _ overwritesStates: Bool, _ past: [VaultRecordID: VaultPastState],
        into draft: inout VaultDraft, _ counts: inout VaultImportCounts, at now: NumericDate
    ) {
        if let row = draft.damagedRow(at: new.id) {
            // The same token may be in several lines.
            if counts.broken.last != row.error { counts.broken.append(row.error) }
            return
        }
        guard let known = draft.records[new.id] else {
            draft.put(new.after(past[new.id]))
            draft.applyNotices(to: new.id, at: now)
            counts.imported += 1
            return
        }
        var next = known.merged(with: new, overwritesStates: overwritesStates)
        // The fingerprint is authenticated: if the record can be decrypted, it contains this token.
        if (try? token(of: known)) == nil { next = next.encrypted(as: new) }
        guard next != known else { return counts.unchanged += 1 }
        counts.updated += 1
        draft.put(next)
        if next.state != known.state {
            draft.note(VaultHistoryEvent(next.state), of: next, at: now)
        }
    }
}

extension VaultDraft {
    /// Applies what Apple reported about the user of a token before the token was stored.
    fileprivate mutating func applyNotices(to id: VaultRecordID, at now: NumericDate) {
        for notice in notices where notice.users.contains(id.user) {
            apply(notice.event, to: id, VaultEventDetails(), at: now)
        }
    }
}

/// The results of an import.
package struct VaultImportCounts: Hashable, Sendable {
    /// Tokens that are new.
    package var imported = 0
    /// Known tokens that changed.
    package var updated = 0
    /// Known tokens that did not change.
    package var unchanged = 0
    /// Why tokens could not be imported: their rows are damaged.
    package var broken: [StoreError] = []

    /// Initially empty.
    package init() {}

    /// The counts of two groups.
    package static func += (left: inout Self, right: Self) {
        left.imported += right.imported
        left.updated += right.updated
        left.unchanged += right.unchanged
        left.broken += right.broken
    }
}

extension VaultRecord {
    /// The result of importing a known token. It changes only from `active` or `revoking`, and only
    /// if the imported state is from a later time; no token becomes active again.
    ///
    /// - Parameter overwritesStates: state and times become those of the import in any case.
    func merged(with new: VaultRecord, overwritesStates: Bool) -> Self {
        var next = self
        if overwritesStates {
            (next.state, next.changedAt) = (new.state, new.changedAt)
            (next.storedAt, next.checkedAt) = (new.storedAt, new.checkedAt)
            next.signedInAt = new.signedInAt
        } else if [.active, .revoking].contains(state), new.state != .active,
            new.state != state, new.changedAt > changedAt
        {
            (next.state, next.changedAt) = (new.state, new.changedAt)
            next.checkedAt = [checkedAt, new.checkedAt].compactMap(\.self).max()
        }
        return next
    }

    /// The result of importing a token that was removed: the last state of its history is the one
    /// that the import would have found.
    fileprivate func after(_ past: VaultPastState?) -> Self {
        guard let past else { return self }
        var known = self
        (known.state, known.changedAt) = (past.state, past.since)
        return known.merged(with: self, overwritesStates: false)
    }

    /// This record with the encrypted token of another.
    fileprivate func encrypted(as other: VaultRecord) -> Self {
        var next = self
        (next.keyNumber, next.sealed) = (other.keyNumber, other.sealed)
        return next
    }
}

extension VaultItem {
    fileprivate func newRecord(_ fingerprint: TokenFingerprint) -> VaultRecord {
        VaultRecord(
            id: VaultRecordID(user, fingerprint), state: state, keyNumber: 0, sealed: [],
            storedAt: storedAt, signedInAt: signedInAt, changedAt: changedAt, checkedAt: checkedAt)
    }
}
