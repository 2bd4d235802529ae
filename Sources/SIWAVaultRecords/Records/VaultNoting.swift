package import SIWAJOSE
package import SIWALifecycle

/// An event of a token that was read from the vault.
package struct VaultNote: Sendable {
    /// The token, as it was read.
    package let record: VaultRecord
    /// The event; nil if only the lease ends.
    package let event: VaultEvent?
    /// The evidence of the event.
    package let details: VaultEventDetails

    /// Describes what happened to a token.
    package init(
        _ record: VaultRecord, _ event: VaultEvent?,
        _ details: VaultEventDetails = VaultEventDetails()
    ) {
        (self.record, self.event, self.details) = (record, event, details)
    }
}

// Recording events of stored tokens.
extension Vault {
    /// Records events of tokens, in one transaction. Tokens that were moved to another user id in
    /// the meantime are changed in another transaction.
    ///
    /// - Parameter owner: ends the leases that this owner has on them.
    /// - Returns: the current records, without those that were removed in the meantime.
    @discardableResult
    package func note(
        _ notes: [VaultNote], releasedBy owner: String? = nil, at now: NumericDate
    ) throws(StoreError) -> [VaultRecord] {
        try note(notes, releasedBy: owner, at: now, following: Self.mostMoves)
    }

    /// - Parameter moves: the number of moves of a token to follow.
    private func note(
        _ notes: [VaultNote], releasedBy owner: String?, at now: NumericDate, following moves: Int
    ) throws(StoreError) -> [VaultRecord] {
        var (records, moved): ([VaultRecord], [VaultNote]) = ([], [])
        let rows = Set(notes.map { VaultRowKey($0.record.id) })
        try change(
            .tokens(notes.map(\.record.id)),
            releasing: owner.map { VaultRelease(owner: $0, rows: rows) }
        ) { draft throws(StoreError) in
            moved = notes.filter { draft.records[$0.record.id] == nil }
            for note in notes {
                guard let event = note.event else { continue }
                draft.apply(event, to: note.record.id, note.details, at: now)
            }
            records = notes.compactMap { draft.records[$0.record.id] }
        }
        var followed: [VaultNote] = []
        for note in moved { if let note = try self.followed(note) { followed.append(note) } }
        guard !followed.isEmpty, moves > 0 else { return records }
        return try records + note(followed, releasedBy: owner, at: now, following: moves - 1)
    }

    /// The same note for the user id to which the record was moved last; nil if the history
    /// contains no move.
    private func followed(_ note: VaultNote) throws(StoreError) -> VaultNote? {
        let user = note.record.user
        let filter = VaultHistoryFilter(
            userID: user.userID, clientID: user.clientID, events: [.remapped])
        var (newUserID, last): (UserID?, VaultHistoryPosition?) = (nil, nil)
        while case let page = try store.history(filter, after: last, limit: Self.historyPage),
            let next = page.next
        {
            let moves = page.entries.filter {
                $0.user == user && $0.fingerprint == note.record.id.fingerprint
            }
            newUserID = moves.last?.newUserID ?? newUserID
            last = next
        }
        guard let newUserID else { return nil }
        let id = VaultRecordID(VaultUser(user.clientID, newUserID), note.record.id.fingerprint)
        return VaultNote(note.record.renamed(id), note.event, note.details)
    }

    private static var historyPage: Int { 100 }
    /// More moves during one request are unlikely.
    private static var mostMoves: Int { 4 }

    /// Ends leases on rows without recording a change.
    package func release(
        _ rows: Set<VaultRowKey>, heldBy owner: String
    ) throws(StoreError) {
        try store.change(.tokens([]), releasing: VaultRelease(owner: owner, rows: rows)) { _ in
            VaultChanges()
        }
    }

    /// Records events of users, which affect all their tokens.
    ///
    /// - Returns: their current records, and damaged rows, which were not changed.
    @discardableResult
    package func note(
        _ event: VaultEvent, ofAllTokensOf users: [VaultUser],
        _ details: VaultEventDetails = VaultEventDetails(), at now: NumericDate
    ) throws(StoreError) -> VaultPage {
        var page = VaultPage()
        try change(.users(users)) { draft throws(StoreError) in
            for id in draft.records.keys.sorted() {
                draft.apply(event, to: id, details, at: now)
            }
            page = VaultPage(
                records: draft.records.values.sorted { $0.id < $1.id }, damaged: draft.damaged)
        }
        return page
    }

    /// Encrypts the tokens of records with the current key.
    ///
    /// - Returns: how many of the records are encrypted with the current key now.
    /// - Throws: ``StoreError``, which names the record, if one cannot be decrypted.
    @discardableResult
    package func reseal(_ records: [VaultRecord]) throws(StoreError) -> Int {
        var count = 0
        try change(.tokens(records.map(\.id))) { draft throws(StoreError) in
            count = 0
            for record in records {
                guard let now = draft.records[record.id] else { continue }
                if now.keyNumber != currentKey {
                    draft.put(try sealed(try token(of: now), as: now))
                }
                count += 1
            }
        }
        return count
    }

    /// Claims records for a batch; see ``VaultStore/claim(_:limit:for:_:)``.
    ///
    /// - Parameter intent: an event that is written with the claim, before anything is sent.
    /// - Returns: the records as they were before `intent`.
    package func claim(
        _ filter: VaultFilter, limit: Int, for lease: Lease, intent: VaultEvent? = nil,
        at now: NumericDate
    ) throws(StoreError) -> VaultClaimed {
        try store.claim(filter, limit: limit, for: lease) { record in
            guard let intent else { return VaultClaimChange(record) }
            let after = record.after(intent, at: now)
            let isChanged = after.state != record.state
            return VaultClaimChange(after, isChanged ? entry(after, at: now) : nil)
        }
    }

    private func entry(_ record: VaultRecord, at now: NumericDate) -> VaultHistoryEntry {
        VaultHistoryEntry(
            at: now, event: VaultHistoryEvent(record.state), user: record.user,
            fingerprint: record.id.fingerprint, actor: actor)
    }
}
