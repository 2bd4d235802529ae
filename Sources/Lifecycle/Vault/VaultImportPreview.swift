internal import JOSE

/// The states that tokens would have after a part of an import, for the dry run of the rest: some
/// 50 bytes a token, without the token.
package struct VaultImportPreview: Sendable {
    private struct Fate {
        let state: VaultState
        let storedAt, changedAt: NumericDate
        let checkedAt: NumericDate?
    }

    /// By a hash of the record's id, under a random key of this process.
    private var fates: [Int: Fate] = [:]

    /// Initially empty.
    package init() {}

    /// The record as it would be, without its token; nil if nothing would have changed it.
    func record(_ id: VaultRecordID) -> VaultRecord? {
        fates[id.hashValue].map { fate in
            VaultRecord(
                id: id, state: fate.state, keyNumber: 0, sealed: [], storedAt: fate.storedAt,
                changedAt: fate.changedAt, checkedAt: fate.checkedAt)
        }
    }

    /// Notes what a record would be.
    mutating func note(_ record: VaultRecord) {
        fates[record.id.hashValue] = Fate(
            state: record.state, storedAt: record.storedAt, changedAt: record.changedAt,
            checkedAt: record.checkedAt)
    }
}
