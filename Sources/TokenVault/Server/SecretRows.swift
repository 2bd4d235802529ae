internal import Lifecycle
internal import SIWACrypto
internal import ServerRecords

// What siwa-server seals with the vault's keys: secrets of the outbox, then answers of the journal.
extension Database {
    /// Up to `limit` secrets after a row; empty if there are no tables of siwa-server.
    func secrets(
        notSealedWith number: Int?, after row: VaultSecret.Row?, _ limit: Int
    ) throws(DatabaseFailure) -> VaultSecretPage {
        guard try hasServerTables() else { return VaultSecretPage() }
        var page = VaultSecretPage()
        for table in SecretTable.all {
            let start = table.start(after: row)
            guard start != .nowhere else { continue }
            let room = limit - page.secrets.count - page.damaged.count
            guard room > 0 else { break }
            var conditions = Conditions()
            if case .after(let key) = start { conditions.add("\(table.key) >", key) }
            conditions.add("(\(table.secret) IS NOT NULL OR key_number IS NOT NULL)")
            if let number {
                let other = conditions.add(.integer(number))
                conditions.add("(key_number IS NULL OR key_number <> \(other))")
            }
            let sql = """
                SELECT \(table.key), \(table.place), key_number, \(table.secret)
                FROM \(table.name) \(conditions.sql) ORDER BY \(table.key)
                LIMIT \(conditions.add(.integer(room)))
                """
            for values in try run(sql, conditions.values) { page.add(values, of: table) }
        }
        return page
    }

    /// Replaces secrets that are still stored as they were read.
    func replace(_ changes: [VaultSecretChange]) throws(DatabaseFailure) -> Int {
        guard !changes.isEmpty, try hasServerTables() else { return 0 }
        try requireNewest(among: Set(changes.map(\.new.keyNumber)))
        var count = 0
        for change in changes {
            let table = SecretTable(of: change.old.row)
            let rows = try run(
                """
                UPDATE \(table.name) SET key_number = $2, \(table.secret) = $3
                WHERE \(table.key) = $1 AND \(table.secret) = $4 RETURNING 1
                """, change.old.row.value, .integer(change.new.keyNumber),
                .bytes(change.new.bytes), .bytes(change.old.sealed.bytes))
            count += rows.count
        }
        return count
    }

    private func hasServerTables() throws(DatabaseFailure) -> Bool {
        try !run(dialect.tableExists("server_schema")).isEmpty
    }
}

/// A table with sealed secrets, and its columns.
private struct SecretTable {
    let name, key, secret: String
    /// The columns that its place consists of.
    let place: String
    private static let outbox = Self(
        name: "revocation_job", key: "id", secret: "sealed",
        place: "client_id, token_fingerprint")
    private static let journal = Self(
        name: "code_journal", key: "code_sha256", secret: "answer", place: "client_id")

    static let all = [outbox, journal]

    private init(name: String, key: String, secret: String, place: String) {
        (self.name, self.key, self.secret, self.place) = (name, key, secret, place)
    }

    init(of row: VaultSecret.Row) {
        switch row {
        case .job: self = Self.outbox
        case .code: self = Self.journal
        }
    }

    /// Where the reading of the table begins.
    enum Start: Equatable {
        case first
        case after(Value)
        /// The table was read before.
        case nowhere
    }

    func start(after row: VaultSecret.Row?) -> Start {
        guard let row else { return .first }
        if SecretTable(of: row).name == name { return .after(row.value) }
        if case .job = row { return .first }
        return .nowhere
    }
}

extension VaultSecret.Row {
    fileprivate var value: Value {
        switch self {
        case .job(let number): .integer(number)
        case .code(let digest): .bytes(digest)
        }
    }
}

extension VaultSecretPage {
    /// Adds a row, whose values are untrusted.
    fileprivate mutating func add(_ values: [Value], of table: SecretTable) {
        guard let key = values.first else { return }
        let row: VaultSecret.Row =
            if case .integer(let number) = key { .job(number) } else { .code(key.textBytes) }
        next = row
        do throws(DamagedColumn) {
            var columns = CheckedRow(Array(values.dropFirst()))
            let clientID = try columns.clientID()
            let place =
                switch row {
                case .job: RevocationJob.place(of: try columns.fingerprint(), clientID)
                case .code(let digest): CodeEntry.place(of: digest, clientID)
                }
            guard let sealed = try columns.optionalSecret() else {
                throw DamagedColumn("it has a secret without a key_number, or the reverse")
            }
            secrets.append(VaultSecret(row: row, place: place, sealed: sealed))
        } catch {
            damaged.append(VaultError(.recordDamaged, "\(row) is damaged: \(error.reason)"))
        }
    }
}
