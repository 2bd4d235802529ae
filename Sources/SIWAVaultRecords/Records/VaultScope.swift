internal import SIWADatabases

/// The records that a transaction reads, and that a change may change or add. A user may have any
/// number of tokens, so what concerns some of them does not read the others.
package enum VaultScope: Sendable {
    /// All records of some users.
    case users([VaultUser])
    /// The records of some tokens, which may be missing.
    case tokens([VaultRecordID])

    /// The users, in their order.
    package var users: [VaultUser] {
        switch self {
        case .users(let users): users.inOrder
        case .tokens(let ids): ids.map(\.user).inOrder
        }
    }

    /// The first columns of the keys of the records, in the order of the keys.
    var keys: RowList {
        switch self {
        case .users(let users):
            RowList(columns: RowList.user, rows: users.inOrder.map(\.values))
        case .tokens(let ids):
            RowList(columns: RowList.key, rows: ids.inOrder.map { VaultRowKey($0).values })
        }
    }
}

extension Array where Element: Comparable & Hashable {
    /// The elements without repetitions, in their order.
    fileprivate var inOrder: [Element] {
        zip(self, dropFirst()).allSatisfy(<) ? self : Set(self).sorted()
    }
}
