internal import JOSE
internal import Lifecycle

// A record as a row of `vault_token`.
extension VaultRecord {
    /// The columns, in the order of ``values`` and of ``init(_:)``.
    static let columnList =
        RowList.key + [
            .text("state"), .integer("key_number"), .integer("version"), .bytes("sealed"),
            .integer("stored_at"), .integer("changed_at"), .integer("checked_at"),
            .integer("signed_in_at"),
        ]

    /// The columns as SQL.
    static let columns = columnList.map(\.name).joined(separator: ", ")

    /// The values of the columns.
    var values: [Value] {
        [
            .text(id.user.clientID.rawValue), .text(id.user.userID.rawValue),
            .text(id.fingerprint?.rawValue ?? ""), .text(state.rawValue), .integer(keyNumber),
            Value(legacyVersion), .bytes(sealed), .integer(storedAt.seconds),
            .integer(changedAt.seconds), Value(checkedAt?.seconds), Value(signedInAt?.seconds),
        ]
    }

    /// Reads a row, whose values are untrusted.
    ///
    /// - Throws: ``DamagedColumn``.
    init(_ row: [Value]) throws(DamagedColumn) {
        guard row.count >= 11 else { throw DamagedColumn("columns are missing") }
        let id = try VaultRecordID(row)
        guard let state = row[3].text.flatMap(VaultState.init) else {
            throw DamagedColumn("its state is unknown")
        }
        guard let keyNumber = row[4].integer, VaultKeyRing.possibleNumbers.contains(keyNumber)
        else { throw DamagedColumn("its key_number is out of range") }
        guard let sealed = row[6].bytes else { throw DamagedColumn("it has no encrypted token") }
        self.init(
            id: id, state: state, keyNumber: keyNumber,
            legacyVersion: id.fingerprint == nil ? try Self.legacyVersion(row[5]) : nil,
            sealed: sealed, storedAt: try row[7].date("stored_at"),
            signedInAt: try row[10].optionalDate("signed_in_at"),
            changedAt: try row[8].date("changed_at"),
            checkedAt: try row[9].optionalDate("checked_at"))
    }

    private static func legacyVersion(_ value: Value) throws(DamagedColumn) -> Int {
        guard let version = value.integer, (1...Int(Int32.max)).contains(version) else {
            throw DamagedColumn("its version is out of range")
        }
        return version
    }
}

extension VaultRecordID {
    /// Reads the columns of the key.
    fileprivate init(_ row: [Value]) throws(DamagedColumn) {
        let user = try VaultUser(row[0], row[1])
        guard let text = row[2].text, text.isEmpty || TokenFingerprint(text) != nil else {
            throw DamagedColumn("its token_fingerprint is not 12 hexadecimal digits")
        }
        self.init(user, TokenFingerprint(text))
    }
}

extension VaultUser {
    /// Reads a client id and a user id.
    init(_ client: Value, _ user: Value) throws(DamagedColumn) {
        guard let clientText = client.text else {
            throw DamagedColumn("its client_id is not UTF-8")
        }
        guard let userText = user.text else { throw DamagedColumn("its user_id is not UTF-8") }
        let clientID: ClientID
        do {
            clientID = try ClientID(validating: clientText)
        } catch {
            throw DamagedColumn("its client_id \(error.fault)")
        }
        do {
            try self.init(clientID, validating: userText)
        } catch {
            throw DamagedColumn("its user_id \(error.fault)")
        }
    }

    /// The columns of the user.
    var values: [Value] { [.text(clientID.rawValue), .text(userID.rawValue)] }
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

extension Value {
    /// A time with a four-digit year, as RFC 3339 requires.
    func date(_ column: String) throws(DamagedColumn) -> NumericDate {
        guard let seconds = integer, NumericDate(seconds).isWritable else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return NumericDate(seconds)
    }

    /// A time, or NULL.
    func optionalDate(_ column: String) throws(DamagedColumn) -> NumericDate? {
        self == .null ? nil : try date(column)
    }
}

/// A column of a row has a value that siwa never writes.
struct DamagedColumn: Error, CustomStringConvertible {
    /// What is wrong, as a sentence without a full stop.
    let reason: String

    var description: String { reason }

    init(_ reason: String) { self.reason = reason }
}

extension VaultPage {
    /// Reads rows, in their order.
    init(_ rows: [[Value]]) {
        self.init()
        for row in rows where row.count >= 3 {
            next = VaultRowKey(row)
            do throws(DamagedColumn) {
                records.append(try VaultRecord(row))
            } catch {
                damaged.append(DamagedRecord(VaultRowKey(row), error.reason))
            }
        }
    }
}
