package import SIWAJOSE
package import SIWALifecycle

/// Selects records.
package struct VaultFilter: Hashable, Sendable {
    /// Records of this client; nil for all clients.
    package var clientID: ClientID?
    /// Records in one of these states; empty for all states.
    package var states: [VaultState]
    /// Records that were last checked before this moment, or never. With ``isNewestOnly``, no token
    /// of the user may have been checked since then.
    package var notCheckedSince: NumericDate?
    /// Records whose state last changed before this moment.
    package var changedBefore: NumericDate?
    /// Records that are not encrypted with this key.
    package var notSealedWith: Int?
    /// Whether to select only the newest of each user's tokens in ``states``.
    package var isNewestOnly: Bool

    /// Selects records.
    package init(
        clientID: ClientID? = nil, states: [VaultState] = [], notCheckedSince: NumericDate? = nil,
        changedBefore: NumericDate? = nil, notSealedWith: Int? = nil, isNewestOnly: Bool = false
    ) {
        (self.clientID, self.states) = (clientID, states)
        (self.notCheckedSince, self.changedBefore) = (notCheckedSince, changedBefore)
        (self.notSealedWith, self.isNewestOnly) = (notSealedWith, isNewestOnly)
    }

    /// Whether the filter needs columns that are not in an index.
    package var looksIntoRecords: Bool {
        notCheckedSince != nil || changedBefore != nil || notSealedWith != nil || isNewestOnly
    }

    /// Whether the filter selects a record.
    ///
    /// - Parameter others: all tokens of the record's user, for ``isNewestOnly``.
    package func matches(_ record: VaultRecord, among others: [VaultRecord] = []) -> Bool {
        isCandidate(record)
            && (notCheckedSince.map { !isChecked(record, since: $0) } ?? true)
            && (changedBefore.map { record.changedAt < $0 } ?? true)
            && (notSealedWith.map { record.keyNumber != $0 } ?? true)
            && (!isNewestOnly || isNewest(record, among: others))
    }

    private func isCandidate(_ record: VaultRecord) -> Bool {
        (clientID == nil || record.user.clientID == clientID)
            && (states.isEmpty || states.contains(record.state))
    }

    private func isChecked(_ record: VaultRecord, since moment: NumericDate) -> Bool {
        record.checkedAt.map { $0 >= moment } ?? false
    }

    private func isNewest(_ record: VaultRecord, among others: [VaultRecord]) -> Bool {
        others.allSatisfy { other in
            let isNewer =
                isCandidate(other)
                && (other.storedAt, other.id) > (record.storedAt, record.id)
            return !isNewer && (notCheckedSince.map { !isChecked(other, since: $0) } ?? true)
        }
    }
}
