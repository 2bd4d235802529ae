internal import SIWAJOSE
internal import SIWALifecycle

/// The records of a scope, and the changes to them that one transaction will write.
struct VaultDraft {
    /// The damaged rows among them, which are not changed.
    let damaged: [DamagedRecord]
    /// What Apple has reported about their users.
    let notices: [VaultNotice]
    private let damagedByKey: [VaultRowKey: DamagedRecord]
    private let actor: VaultActor
    private let found: [VaultRecordID: VaultRecord]
    /// The records, with the changes.
    private(set) var records: [VaultRecordID: VaultRecord]
    /// The ids of new records, in the order in which they were added.
    private var added: [VaultRecordID] = []
    /// The ids of ``records`` by user; nil until a user's records are requested.
    private var idsByUser: [VaultUser: Set<VaultRecordID>]?
    /// The id that each record has in the store, unless it is new.
    private var origins: [VaultRecordID: VaultRecordID]
    private var history: [VaultHistoryEntry] = []

    /// - Parameter actor: the program that changes the records, for the history.
    init(_ page: VaultPage, by actor: VaultActor) {
        (damaged, notices, self.actor) = (page.damaged, page.notices, actor)
        damagedByKey = Dictionary(
            page.damaged.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        found = Dictionary(
            page.records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        records = found
        origins = found.mapValues(\.id)
    }

    /// The damaged row that keeps a record with this id from being stored, if there is one.
    func damagedRow(at id: VaultRecordID) -> DamagedRecord? {
        damagedByKey.isEmpty ? nil : damagedByKey[VaultRowKey(id)]
    }

    /// The records of a user, in their order. Does not search the records of other users.
    mutating func records(of user: VaultUser) -> [VaultRecord] {
        if idsByUser == nil {
            idsByUser = Dictionary(grouping: records.keys, by: \.user).mapValues { Set($0) }
        }
        return (idsByUser?[user] ?? []).sorted().compactMap { records[$0] }
    }

    /// Adds a record, or changes the one with this id.
    mutating func put(_ record: VaultRecord) {
        if records.updateValue(record, forKey: record.id) == nil { added.append(record.id) }
        idsByUser?[record.user, default: []].insert(record.id)
    }

    /// Gives a record another id.
    mutating func replace(_ id: VaultRecordID, with record: VaultRecord) {
        let origin = origins[id]
        remove(id)
        put(record)
        origins[record.id] = origin
    }

    /// Removes a record.
    mutating func remove(_ id: VaultRecordID) {
        records[id] = nil
        idsByUser?[id.user]?.remove(id)
        origins[id] = nil
    }

    /// Applies an event to a record, and notes in the history what it changed. A revocation is
    /// noted even if a notification has given the record another state in the meantime.
    mutating func apply(
        _ event: VaultEvent, to id: VaultRecordID, _ details: VaultEventDetails,
        at now: NumericDate
    ) {
        guard let before = records[id] else { return }
        let after = before.after(event, at: now)
        records[id] = after
        if after.state != before.state {
            note(VaultHistoryEvent(after.state), of: after, details, at: now)
        } else if event == .revoked, before.state != .revoked {
            note(.revoked, of: after, details, at: now)
        }
    }

    /// Adds an entry to the history.
    mutating func note(
        _ event: VaultHistoryEvent, of record: VaultRecord,
        _ details: VaultEventDetails = VaultEventDetails(), at now: NumericDate,
        newUserID: UserID? = nil
    ) {
        history.append(
            VaultHistoryEntry(
                at: now, event: event, user: record.user,
                fingerprint: record.id.fingerprint, details: details, actor: actor,
                newUserID: newUserID))
    }

    /// The changes to the records.
    var changes: VaultChanges {
        // The new records of an import are already in order; sorting them would take longer than
        // all the rest.
        let updates =
            isInOrder
            ? added.compactMap { records[$0].flatMap(update) }
            : records.values.compactMap(update).sorted { $0.record.id < $1.record.id }
        let kept = Set(origins.values)
        return VaultChanges(
            updates: updates,
            removals: found.keys.filter { !kept.contains($0) }.sorted().map { VaultRowKey($0) },
            history: history)
    }

    /// Whether ``added`` contains all records in their order, without repetitions.
    private var isInOrder: Bool {
        found.isEmpty && added.count == records.count
            && zip(added, added.dropFirst()).allSatisfy(<)
    }

    /// The update of a record; nil if it is unchanged.
    private func update(_ record: VaultRecord) -> VaultUpdate? {
        let origin = origins[record.id]
        let isUnchanged = origin == record.id && found[record.id] == record
        return isUnchanged ? nil : VaultUpdate(record, replacing: origin)
    }
}

extension Vault {
    /// Decides about records in one transaction.
    func change(
        _ scope: VaultScope, releasing released: VaultRelease? = nil,
        _ decide: (inout VaultDraft) throws(StoreError) -> Void
    ) throws(StoreError) {
        try store.change(scope, releasing: released) { page throws(StoreError) in
            var draft = VaultDraft(page, by: actor)
            try decide(&draft)
            return draft.changes
        }
    }
}
