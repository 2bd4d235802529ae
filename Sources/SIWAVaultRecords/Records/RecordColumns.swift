package import SIWADatabases
internal import SIWAJOSE
package import SIWALifecycle

// A record as a row of `vault_token`.
extension VaultRecord {
    /// The columns, in the order of ``values`` and of ``init(_:)``.
    package static let columnList =
        RowList.key + [
            .text("state"), .integer("key_number"), .bytes("sealed"), .integer("stored_at"),
            .integer("changed_at"), .integer("checked_at"), .integer("signed_in_at"),
        ]

    /// The columns as SQL.
    static let columns = columnList.map(\.name).joined(separator: ", ")

    /// The values of the columns.
    var values: [Value] {
        [
            .text(id.user.clientID.rawValue), .text(id.user.userID.rawValue),
            .text(id.fingerprint.rawValue), .text(state.rawValue), .integer(keyNumber),
            .bytes(sealed), .integer(storedAt.seconds), .integer(changedAt.seconds),
            Value(checkedAt?.seconds), Value(signedInAt?.seconds),
        ]
    }

    /// Reads a row, whose values are untrusted.
    ///
    /// - Throws: ``DamagedColumn``.
    init(_ row: [Value]) throws(DamagedColumn) {
        var row = CheckedRow(row)
        let id = try row.recordID()
        let state: VaultState = try row.known("state")
        let keyNumber = try row.integer("key_number", in: VaultKeyRing.possibleNumbers)
        let sealed = try row.bytes("encrypted token")
        let storedAt = try row.date("stored_at")
        let changedAt = try row.date("changed_at")
        let checkedAt = try row.optionalDate("checked_at")
        self.init(
            id: id, state: state, keyNumber: keyNumber, sealed: sealed, storedAt: storedAt,
            signedInAt: try row.optionalDate("signed_in_at"), changedAt: changedAt,
            checkedAt: checkedAt)
    }
}

extension VaultUser {
    /// The columns of the user.
    package var values: [Value] { [.text(clientID.rawValue), .text(userID.rawValue)] }
}

extension VaultRowKey {
    /// Reads the columns of the key, without checking them.
    init(_ row: [Value]) {
        self.init(
            clientID: row[0].textBytes, userID: row[1].textBytes, fingerprint: row[2].textBytes)
    }

    /// The columns of the key.
    var values: [Value] { [clientID, userID, fingerprint].map(Value.init(textOf:)) }
}

extension VaultPage {
    /// Reads the rows that a search has found.
    init(_ search: StretchSearch<VaultRowKey>) {
        self.init(search.rows)
        searched = search.searched
        if let stop = search.stop { next = stop }
    }

    /// Reads rows, in their order.
    init(_ rows: [[Value]]) {
        self.init()
        for row in rows {
            next = VaultRowKey(row)
            do throws(DamagedColumn) {
                records.append(try VaultRecord(row))
            } catch {
                damaged.append(DamagedRecord(VaultRowKey(row), error.reason))
            }
        }
        searched = rows.count
    }
}

extension CheckedRow {
    package mutating func user() throws(DamagedColumn) -> VaultUser {
        let clientID = try clientID()
        let userID = try text("user_id")
        do {
            return try VaultUser(clientID, validating: userID)
        } catch {
            throw DamagedColumn("its user_id \(error.fault)")
        }
    }

    package mutating func clientID() throws(DamagedColumn) -> ClientID {
        try Self.clientID(text("client_id"))
    }

    package mutating func optionalClientID() throws(DamagedColumn) -> ClientID? {
        guard let text = try optionalText("client_id") else { return nil }
        return try Self.clientID(text)
    }

    private static func clientID(_ text: String) throws(DamagedColumn) -> ClientID {
        do {
            return try ClientID(validating: text)
        } catch {
            throw DamagedColumn("its client_id \(error.fault)")
        }
    }

    package mutating func optionalUserID() throws(DamagedColumn) -> UserID? {
        guard let text = try optionalText("user_id") else { return nil }
        do {
            return try UserID(validating: text)
        } catch {
            throw DamagedColumn("its user_id \(error.fault)")
        }
    }

    package mutating func fingerprint() throws(DamagedColumn) -> TokenFingerprint {
        guard let fingerprint = try next().text.flatMap({ TokenFingerprint($0) }) else {
            throw DamagedColumn("its token_fingerprint is not 12 hexadecimal digits")
        }
        return fingerprint
    }

    /// The columns of a token's key.
    mutating func recordID() throws(DamagedColumn) -> VaultRecordID {
        let user = try user()
        return VaultRecordID(user, try fingerprint())
    }

    /// A sealed secret: the number of its key, and its bytes.
    package mutating func optionalSecret() throws(DamagedColumn) -> SealedSecret? {
        let number = try optionalInteger("key_number", in: VaultKeyRing.possibleNumbers)
        let bytes = try optionalBytes("sealed secret")
        guard let number, let bytes else { return nil }
        return SealedSecret(keyNumber: number, bytes: bytes)
    }
}

extension RowList {
    /// The columns of a user.
    static let user = [Column.text("client_id"), .text("user_id")]
    /// The columns of a token's key.
    package static let key = user + [.text("token_fingerprint")]
}

extension RowList.Words {
    /// The condition that a row of `vault_token` has the client, user and fingerprint.
    var isTheSameToken: String {
        """
        vault_token.client_id = \(self["client_id"]) AND vault_token.user_id = \(self["user_id"])
            AND vault_token.token_fingerprint = \(self["token_fingerprint"])
        """
    }
}
