internal import SignInWithApple

// A record as a row of `vault_token`.
extension VaultRecord {
    /// The columns, in the order of ``values`` and of ``init(_:)``.
    static let columns = """
        client_id, user_id, state, key_number, version, sealed, stored_at, changed_at, checked_at
        """

    /// What the columns hold.
    var values: [Value] {
        user.values + [
            .text(state.rawValue), .integer(keyNumber), .integer(version), .bytes(sealed),
            .integer(storedAt.seconds), .integer(changedAt.seconds), Value(checkedAt?.seconds),
        ]
    }

    /// Reads a row.
    ///
    /// - Throws: of kind `damaged`, naming the record.
    init(_ row: [Value]) throws(DatabaseFailure) {
        guard row.count == 9, let client = row[0].text, let user = row[1].text else {
            throw DatabaseFailure(
                .damaged, "the vault has a record whose client or user cannot be read")
        }
        let name = "the record of user '\(user)' of client '\(client)'"
        guard let word = row[2].text, let state = VaultState(rawValue: word) else {
            throw DatabaseFailure(.damaged, "\(name) is in a state that siwa does not know")
        }
        guard let keyNumber = row[3].integer, let version = row[4].integer,
            let sealed = row[5].bytes, let storedAt = row[6].integer,
            let changedAt = row[7].integer, row[8] == .null || row[8].integer != nil
        else { throw DatabaseFailure(.damaged, "\(name) cannot be read") }
        self.init(
            user: VaultUser(ClientID(unchecked: client), UserID(unchecked: user)), state: state,
            keyNumber: keyNumber, version: version, sealed: sealed,
            storedAt: NumericDate(storedAt), changedAt: NumericDate(changedAt),
            checkedAt: row[8].integer.map { NumericDate($0) })
    }

    /// Reads rows.
    static func all(_ rows: [[Value]]) throws(DatabaseFailure) -> [Self] {
        var records: [Self] = []
        for row in rows { records.append(try Self(row)) }
        return records
    }
}

extension VaultUser {
    /// The columns of the key.
    var values: [Value] { [.text(clientID.rawValue), .text(userID.rawValue)] }
}
