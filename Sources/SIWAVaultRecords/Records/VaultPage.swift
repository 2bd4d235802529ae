internal import SIWAJOSE
package import SIWALifecycle

/// The position of a row in the order of records: the bytes of its client id, user id and
/// fingerprint. Also addresses rows that are too damaged to have a ``VaultRecordID``.
package struct VaultRowKey: Hashable, Sendable {
    /// The bytes of the client id.
    package let clientID: [UInt8]
    /// The bytes of the user id.
    package let userID: [UInt8]
    /// The bytes of the fingerprint.
    package let fingerprint: [UInt8]

    /// Addresses a row by the bytes of its columns.
    package init(clientID: [UInt8], userID: [UInt8], fingerprint: [UInt8]) {
        (self.clientID, self.userID, self.fingerprint) = (clientID, userID, fingerprint)
    }

    /// Addresses the row of a record.
    package init(_ id: VaultRecordID) { self.init(id.user, Array(id.fingerprint.rawValue.utf8)) }

    /// The position before the rows of a user.
    package init(before user: VaultUser) { self.init(user, []) }

    private init(_ user: VaultUser, _ fingerprint: [UInt8]) {
        self.init(
            clientID: Array(user.clientID.rawValue.utf8), userID: Array(user.userID.rawValue.utf8),
            fingerprint: fingerprint)
    }

    /// The same position, before the rows of its user.
    package var withoutToken: Self {
        Self(clientID: clientID, userID: userID, fingerprint: [])
    }
}

extension VaultRowKey: Comparable {
    /// The order of records, which is the order of their bytes.
    package static func < (left: Self, right: Self) -> Bool {
        if left.clientID != right.clientID {
            return left.clientID.lexicographicallyPrecedes(right.clientID)
        }
        return left.userID == right.userID
            ? left.fingerprint.lexicographicallyPrecedes(right.fingerprint)
            : left.userID.lexicographicallyPrecedes(right.userID)
    }
}

extension VaultRowKey: CustomStringConvertible {
    fileprivate var shownUserID: String { escaped(userID) }

    /// The name of the row in messages: printable ASCII, at most a few hundred characters.
    package var description: String {
        "token '\(escaped(fingerprint))' of '\(shownUserID)' of '\(escaped(clientID))'"
    }
}

/// A row of the database that cannot be a record of siwa: its user id is not UTF-8, its state is
/// unknown, a number is out of range.
package struct DamagedRecord: Hashable, Sendable {
    /// Where the row is.
    package let key: VaultRowKey
    /// What is wrong with it, as a sentence without a full stop.
    package let reason: String

    /// Describes a damaged row.
    package init(_ key: VaultRowKey, _ reason: String) { (self.key, self.reason) = (key, reason) }

    /// An error that names the row and its fault.
    package var error: StoreError {
        StoreError(
            .recordDamaged, "\(key) is damaged: \(reason)", naming: key.shownUserID)
    }
}

/// Some records in their order, and the damaged rows among them.
package struct VaultPage: Hashable, Sendable {
    /// The records that can be read.
    package var records: [VaultRecord]
    /// The rows that cannot be read.
    package var damaged: [DamagedRecord]
    /// The next page begins after this key: that of the last row, or the one where a search stopped
    /// that has not found enough. Nil at the end.
    package var next: VaultRowKey?
    /// How many rows were looked at.
    package var searched = 0
    /// What Apple has reported about these users, in its order, as far as the store keeps that: it
    /// also concerns tokens of earlier sign-ins that are stored only now.
    package var notices: [VaultNotice] = []

    /// A page; an empty one is the end.
    package init(
        records: [VaultRecord] = [], damaged: [DamagedRecord] = [], next: VaultRowKey? = nil
    ) {
        (self.records, self.damaged, self.next) = (records, damaged, next)
        searched = records.count + damaged.count
    }

    /// Whether the page has neither records nor damaged rows.
    package var isEmpty: Bool { records.isEmpty && damaged.isEmpty }
}

extension [VaultRecord] {
    /// The records in the order in which they were stored.
    package var oldestFirst: Self { sorted { ($0.storedAt, $0.id) < ($1.storedAt, $1.id) } }

    /// Of one user's records in the order in which they were stored, the newest active one; without
    /// an active one, the newest. Nil if there are none.
    package var newest: VaultRecord? { last { $0.state == .active } ?? last }
}

/// Bytes from a database as printable ASCII, with other bytes as `\xNN`; shortened if long.
package func escaped(_ bytes: [UInt8], limit: Int = 80) -> String {
    let shown = bytes.prefix(limit).map { byte in
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\\")
            ? String(Unicode.Scalar(byte)) : "\\x" + [byte].hexadecimal
    }
    return shown.joined() + (bytes.count > limit ? "…" : "")
}
