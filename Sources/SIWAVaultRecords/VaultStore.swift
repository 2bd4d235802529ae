package import SIWAJOSE
package import SIWALifecycle

/// The storage of a vault's records: a database, or memory in tests.
///
/// A store keeps encrypted tokens and never receives a key. Every call is one transaction: when it
/// returns, all changes are on disk; when it throws, nothing was changed. Calls block, and may come
/// from several threads.
///
/// A store does not trust what it reads: rows that cannot be records are returned as
/// ``DamagedRecord``, and do not affect the others.
package protocol VaultStore: Sendable {
    /// Creates an empty vault.
    ///
    /// - Parameter key: identifies the vault's first key to later runs.
    /// - Throws: ``StoreError`` of kind `alreadyInitialized` if there is a vault.
    func create(_ key: VaultKeyCheck) throws(StoreError)

    /// The values that identify the vault's keys, the lowest number first. Updates the tables.
    ///
    /// - Throws: ``StoreError`` of kind `notInitialized` if there is no vault.
    func keyChecks() throws(StoreError) -> [VaultKeyCheck]

    /// Fails if a table or an index is missing, as in a database that was restored in part.
    func requireWhole() throws(StoreError)

    /// Adds a key, with which tokens are encrypted from then on. An existing key with the same
    /// number is not changed.
    func register(_ key: VaultKeyCheck) throws(StoreError)

    /// The records of a scope, in their order.
    func records(of scope: VaultScope) throws(StoreError) -> VaultPage

    /// Up to `limit` records in their order, after a row. A search that looks at many rows and finds
    /// few returns a page with fewer, even an empty one, before the end.
    func records(
        _ filter: VaultFilter, after key: VaultRowKey?, limit: Int
    ) throws(StoreError) -> VaultPage

    /// The clients that have records, in their order. Reads one row for each.
    func clients() throws(StoreError) -> [ClientID]

    /// The number of records in each state, of one client or of all. Damaged rows in unknown states
    /// are not counted.
    func counts(of clientID: ClientID?) throws(StoreError) -> [VaultState: Int]

    /// Decides about records in one transaction, in which others cannot change them.
    ///
    /// - Parameters:
    ///   - released: leases that end.
    ///   - decide: receives the records of the scope. It may be called again, if the connection
    ///     broke or another transaction came first, and must not call the store.
    /// - Throws: ``StoreError``; of kind `keySuperseded` if a token was encrypted with a key that
    ///   is not the newest. Nothing is changed then, nor if `decide` throws.
    func change(
        _ scope: VaultScope, releasing released: VaultRelease?,
        _ decide: (VaultPage) throws(StoreError) -> VaultChanges
    ) throws(StoreError)

    /// Claims up to `limit` free records, and changes them in the same transaction. It may find
    /// fewer than exist, or none, until ``VaultClaimed/isComplete``. It skips records that this
    /// owner held before, and those that others released since its first claim.
    ///
    /// - Parameter change: returns the changed record, which keeps its id.
    func claim(
        _ filter: VaultFilter, limit: Int, for lease: Lease,
        _ change: (VaultRecord) -> VaultClaimChange
    ) throws(StoreError) -> VaultClaimed

    /// Extends leases that the owner still holds.
    func renew(_ ids: [VaultRecordID], for lease: Lease) throws(StoreError) -> VaultRenewal

    /// The records that the owner still holds. It does not wait for the store's other calls.
    func held(
        _ ids: [VaultRecordID], by owner: String
    ) throws(StoreError) -> Set<VaultRecordID>

    /// Counts the records that others hold.
    func leasedByOthers(
        than owner: String, _ filter: VaultFilter
    ) throws(StoreError) -> VaultLeasedByOthers

    /// Up to `limit` entries of the history, the oldest first, after a position.
    func history(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, limit: Int
    ) throws(StoreError) -> VaultHistoryPage

    /// The last states that the history has of some tokens, whether or not they are stored.
    func lastStates(
        of ids: [VaultRecordID]
    ) throws(StoreError) -> [VaultRecordID: VaultPastState]

    /// The number of entries of the history from a moment on and before another, of all users.
    func historyCount(
        since start: NumericDate?, until end: NumericDate?
    ) throws(StoreError) -> Int

    /// Deletes up to `limit` entries of the history from before a moment.
    ///
    /// - Returns: the number of deleted entries.
    func pruneHistory(before moment: NumericDate, limit: Int) throws(StoreError) -> Int

    /// Up to `limit` secrets outside the records, after a row. Without tables of siwa-server there
    /// are none.
    ///
    /// - Parameter number: leaves out secrets that are sealed with this key.
    func secrets(
        notSealedWith number: Int?, after row: VaultSecret.Row?, limit: Int
    ) throws(StoreError) -> VaultSecretPage

    /// Replaces secrets that are still stored as they were read.
    ///
    /// - Returns: the number of replaced secrets.
    /// - Throws: ``StoreError`` of kind `keySuperseded` if the new key is not the newest.
    func replace(_ changes: [VaultSecretChange]) throws(StoreError) -> Int

    /// The faults of the database itself.
    func faults() throws(StoreError) -> [VaultFault]

    /// Fails if the vault is moving or was moved, so that any change would fail. Waits for no lock.
    func requireChangeable() throws(StoreError)

    /// The settings that protect the connection to the database less than siwa's default. Does not
    /// connect.
    func weaknesses() throws(StoreError) -> [StoreWeakness]
}

extension VaultStore {
    /// All records of some users.
    package func records(of users: [VaultUser]) throws(StoreError) -> VaultPage {
        try records(of: .users(users))
    }

    package func requireChangeable() throws(StoreError) {}

    /// That the vault is moving to another database, or was moved; nil if it was not, or if it cannot
    /// be read.
    package var move: StoreError? {
        do throws(StoreError) {
            try requireChangeable()
            return nil
        } catch {
            return [.moving, .moved].contains(error.kind) ? error : nil
        }
    }

    /// A store without connections has no weaknesses.
    package func weaknesses() throws(StoreError) -> [StoreWeakness] { [] }

    /// A store without tables of siwa-server has no secrets outside its records.
    package func secrets(
        notSealedWith number: Int?, after row: VaultSecret.Row?, limit: Int
    ) throws(StoreError) -> VaultSecretPage { VaultSecretPage() }

    /// See ``VaultStore/secrets(notSealedWith:after:limit:)``.
    package func replace(_ changes: [VaultSecretChange]) throws(StoreError) -> Int { 0 }
}

/// A state that a token had, by the history.
package struct VaultPastState: Hashable, Sendable {
    /// The state.
    package let state: VaultState
    /// When the token got it.
    package let since: NumericDate

    /// Describes a state.
    package init(_ state: VaultState, since: NumericDate) {
        (self.state, self.since) = (state, since)
    }
}

/// Changes that are made in one transaction.
package struct VaultChanges: Sendable {
    /// Records that are new or change.
    package var updates: [VaultUpdate]
    /// Rows that are removed.
    package var removals: [VaultRowKey]
    /// Entries that are added to the history.
    package var history: [VaultHistoryEntry]
    /// Users whose history is deleted, under all ids that they had.
    package var erased: [VaultUser]

    /// Describes changes; all are empty by default.
    package init(
        updates: [VaultUpdate] = [], removals: [VaultRowKey] = [],
        history: [VaultHistoryEntry] = [], erased: [VaultUser] = []
    ) {
        (self.updates, self.removals) = (updates, removals)
        (self.history, self.erased) = (history, erased)
    }
}

/// The new value of a record.
package struct VaultUpdate: Hashable, Sendable {
    /// The record that it replaces, whose lease it keeps; nil if it is new.
    package let replaced: VaultRecordID?
    /// The record. Its client is that of the record it replaces.
    package let record: VaultRecord

    /// Adds or changes a record.
    package init(_ record: VaultRecord, replacing replaced: VaultRecordID?) {
        (self.record, self.replaced) = (record, replaced)
    }
}

/// The change that a claim makes to a record.
package struct VaultClaimChange: Sendable {
    /// The changed record.
    package let record: VaultRecord
    /// The entry for the history; nil if the state does not change.
    package let entry: VaultHistoryEntry?

    /// Describes the change.
    package init(_ record: VaultRecord, _ entry: VaultHistoryEntry? = nil) {
        (self.record, self.entry) = (record, entry)
    }
}

/// Leases that end in the same transaction.
package struct VaultRelease: Hashable, Sendable {
    /// The owner of the leases.
    package let owner: String
    /// The rows, including damaged ones; leases of other owners remain.
    package let rows: Set<VaultRowKey>

    /// Ends the leases of `owner` on some rows.
    package init(owner: String, rows: Set<VaultRowKey>) {
        (self.owner, self.rows) = (owner, rows)
    }
}

/// Identifies a key without decrypting a record.
package struct VaultKeyCheck: Hashable, Sendable {
    /// The key's number.
    package let number: Int
    /// An encrypted empty text.
    package let sealed: [UInt8]

    /// Creates the value that a database keeps for a key.
    package init(number: Int, sealed: [UInt8]) { (self.number, self.sealed) = (number, sealed) }
}
