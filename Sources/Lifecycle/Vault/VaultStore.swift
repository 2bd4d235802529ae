package import JOSE

/// Where the records of a vault are kept: a database, or a test's memory.
///
/// A store keeps encrypted tokens and never sees a key. Every call is one transaction: when it
/// returns, everything is on disk; when it throws, nothing happened. Calls may come from several
/// threads, and block.
///
/// A store does not trust what it reads: rows that cannot be records are answered as
/// ``DamagedRecord``, and never stop the others.
package protocol VaultStore: Sendable {
    /// Makes an empty vault.
    ///
    /// - Parameter key: identifies the vault's first key to later runs.
    /// - Throws: ``VaultError`` of kind `alreadyInitialized` if there is a vault.
    func create(_ key: VaultKeyCheck) throws(VaultError)

    /// What identifies the keys of the vault, the lowest number first. Updates the tables.
    ///
    /// - Throws: ``VaultError`` of kind `notInitialized` if there is no vault.
    func keyChecks() throws(VaultError) -> [VaultKeyCheck]

    /// Adds a key, with which tokens are encrypted from now on. An existing key of the same number
    /// is left alone.
    func register(_ key: VaultKeyCheck) throws(VaultError)

    /// All records of some users.
    func records(of users: [VaultUser]) throws(VaultError) -> VaultPage

    /// Up to `limit` records in their order, after a row.
    func records(
        _ filter: VaultFilter, after key: VaultRowKey?, limit: Int
    ) throws(VaultError) -> VaultPage

    /// The clients that have records, in their order. Reads one row for each.
    func clients() throws(VaultError) -> [ClientID]

    /// How many records there are of each state, of one client or of all. Damaged rows in unknown
    /// states are not counted.
    func counts(of clientID: ClientID?) throws(VaultError) -> [VaultState: Int]

    /// Decides about users in one transaction, in which others cannot change their records.
    ///
    /// - Parameters:
    ///   - released: leases that end.
    ///   - decide: from all records that the users have. It may be asked again, if the connection
    ///     broke or another transaction came first, and must not call the store.
    /// - Throws: ``VaultError``; of kind `keySuperseded` if a token was encrypted with another key
    ///   than the newest: after `register` nothing is encrypted with older keys. Nothing is
    ///   changed then, and if `decide` throws.
    func change(
        _ users: [VaultUser], releasing released: VaultRelease?,
        _ decide: (VaultPage) throws(VaultError) -> VaultChanges
    ) throws(VaultError)

    /// Claims up to `limit` free records, and changes them in the same transaction. It may find fewer
    /// than there are, or none, until ``VaultClaimed/isComplete``.
    /// Records that this owner held before are not among them, nor those that others returned
    /// since its first claim: this run is done with them.
    ///
    /// - Parameter change: what becomes of a record. The record keeps its id.
    func claim(
        _ filter: VaultFilter, limit: Int, for lease: VaultLease,
        _ change: (VaultRecord) -> VaultClaimChange
    ) throws(VaultError) -> VaultClaimed

    /// Extends leases that the owner still holds.
    func renew(_ ids: [VaultRecordID], for lease: VaultLease) throws(VaultError) -> VaultRenewal

    /// Counts the records that others hold.
    func leasedByOthers(
        than owner: String, _ filter: VaultFilter
    ) throws(VaultError) -> VaultLeasedByOthers

    /// Up to `limit` entries of the history, the oldest first, after a position.
    func history(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, limit: Int
    ) throws(VaultError) -> VaultHistoryPage

    /// Deletes up to `limit` entries of the history from before a moment.
    ///
    /// - Returns: how many it deleted.
    func pruneHistory(before moment: NumericDate, limit: Int) throws(VaultError) -> Int

    /// What is wrong with the database itself, a sentence each.
    func faults() throws(VaultError) -> [String]

    /// What protects the connection to the database less than siwa's default does. Does not
    /// connect.
    func weaknesses() throws(VaultError) -> [VaultWeakness]
}

extension VaultStore {
    /// A store without connections has no address.
    package func weaknesses() throws(VaultError) -> [VaultWeakness] { [] }
}

/// Something that protects the connection to a database less than siwa's default does.
package struct VaultWeakness: Hashable, Sendable {
    /// What it is, as a sentence without its end.
    package let reason: String
    /// What sets it, such as `environment PGSSLMODE`; nil for the vault's URL.
    package let place: String?

    /// Describes a weakness.
    package init(_ reason: String, setBy place: String?) {
        (self.reason, self.place) = (reason, place)
    }
}

/// What a decision makes of records, all in one transaction.
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

/// A record as it is to be.
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

/// What a claim makes of a record.
package struct VaultClaimChange: Sendable {
    /// The record as it is to be.
    package let record: VaultRecord
    /// The entry for the history; nil if the state does not change.
    package let entry: VaultHistoryEntry?

    /// Describes the change.
    package init(_ record: VaultRecord, _ entry: VaultHistoryEntry? = nil) {
        (self.record, self.entry) = (record, entry)
    }
}

/// Leases that end with a change.
package struct VaultRelease: Hashable, Sendable {
    /// Whose leases.
    package let owner: String
    /// Of which rows, damaged ones too; leases of other owners remain.
    package let rows: Set<VaultRowKey>

    /// Ends the leases of `owner` on some rows.
    package init(owner: String, rows: Set<VaultRowKey>) {
        (self.owner, self.rows) = (owner, rows)
    }
}

/// Tells the right key from a wrong one without decrypting a record.
package struct VaultKeyCheck: Hashable, Sendable {
    /// The key's number.
    package let number: Int
    /// An empty text, encrypted.
    package let sealed: [UInt8]

    /// What a database keeps about a key.
    package init(number: Int, sealed: [UInt8]) { (self.number, self.sealed) = (number, sealed) }
}
