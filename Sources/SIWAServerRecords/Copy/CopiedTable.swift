internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

/// A table whose rows `siwa vault copy` copies, as they are and in the order of their keys.
struct CopiedTable: Sendable {
    let name: String
    let columns: [RowList.Column]
    /// The columns of the primary key.
    let key: [String]
    /// Whether the database numbers the rows (`id`).
    let isNumbered: Bool
    /// A row without its lease: no process of the target has leased it.
    let released: @Sendable ([String: Value]) -> [String: Value]

    private init(
        _ name: String, key: String, isNumbered: Bool = false, _ columns: [RowList.Column],
        released: @escaping @Sendable ([String: Value]) -> [String: Value] = { _ in [:] }
    ) {
        (self.name, self.columns, self.isNumbered) = (name, columns, isNumbered)
        self.key = key.split(separator: " ").map(String.init)
        self.released = released
    }

    /// The tables of the vault.
    static let vault: [Self] = [
        Self("vault_key", key: "number", [.integer("number"), .bytes("check_value")]),
        Self(
            "vault_token", key: "client_id user_id token_fingerprint",
            VaultRecord.columnList + [
                .text("lease_owner"), .integer("lease_until"), .integer("given_back_at"),
            ], released: releasedToken),
        Self(
            "vault_history", key: "id", isNumbered: true,
            [
                .integer("id"), .integer("at"), .text("event"), .text("client_id"),
                .text("user_id"), .text("token_fingerprint"), .text("evidence"),
                .integer("http_status"), .text("apple_request_id"), .text("command"),
                .text("host"), .text("new_user_id"),
            ]),
    ]

    /// The tables of siwa-server. The rows of `server_instance` are leases.
    static let server: [Self] =
        [
            Self(
                "inbox_event", key: "position",
                [
                    .integer("position"), .text("jti"), .text("type"), .text("client_id"),
                    .text("user_id"), .integer("event_time"), .integer("received_at"),
                    .integer("expires_at"), .text("state"), .integer("changed_at"),
                    .integer("attempts"), .integer("due_at"), .integer("holds_until"),
                    .text("lease_owner"), .text("last_error"), .bytes("body"), .integer("mark"),
                ], released: { _ in ["lease_owner": .null] }),
            Self("inbox_mark", key: "position", [.integer("position"), .integer("mark")]),
            Self(
                "code_journal", key: "code_sha256",
                [
                    .bytes("code_sha256"), .text("client_id"), .bytes("parameters"),
                    .text("state"), .integer("changed_at"), .text("lease_owner"),
                    .integer("lease_until"), .integer("key_number"), .bytes("answer"),
                ], released: { _ in ["lease_owner": .text(""), "lease_until": .integer(0)] }),
        ] + revocations + [
            Self(
                "api_token", key: "name",
                [
                    .text("name"), .bytes("sha256"), .text("scopes"), .integer("created_at"),
                    .integer("expires_at"),
                ]),
            Self("server_count", key: "name", [.text("name"), .integer("value")]),
            Self(
                "server_activity", key: "hour kind",
                [.integer("hour"), .text("kind"), .integer("value")]),
            Self(
                "server_token_count", key: "client_id state",
                [.text("client_id"), .text("state"), .integer("value")]),
        ]

    private static let revocations: [Self] = [
        Self(
            "revocation", key: "id", isNumbered: true,
            [
                .integer("id"), .text("revocation_id"), .text("client_id"), .text("user_id"),
                .integer("requested_at"), .text("state"), .integer("ended_at"),
                .integer("answered_202"),
            ]),
        Self("revocation_part", key: "revocation job", [.integer("revocation"), .integer("job")]),
        Self(
            "revocation_job", key: "id", isNumbered: true,
            [
                .integer("id"), .text("client_id"), .text("user_id"), .text("token_fingerprint"),
                .text("kind"), .text("proof"), .text("state"), .integer("was_active"),
                .integer("http_status"), .text("apple_request_id"), .text("evidence"),
                .integer("refresh_status"), .integer("attempts"), .integer("created_at"),
                .integer("due_at"), .integer("ended_at"), .text("last_error"),
                .integer("key_number"), .bytes("sealed"), .text("lease_owner"),
                .integer("is_unusual"), .text("last_error_code"),
            ], released: { _ in ["lease_owner": .null] }),
    ]

    /// `lease_until` of a free token is when it was last touched. The end of a lease may be in the
    /// future, so a token that had one gets the time of its last change.
    @Sendable private static func releasedToken(_ row: [String: Value]) -> [String: Value] {
        guard row["lease_owner"] != .null else { return [:] }
        let changes = [row["changed_at"], row["checked_at"]].compactMap { $0?.integer }
        let last = min(changes.max() ?? 0, row["lease_until"]?.integer ?? 0)
        return ["lease_owner": .null, "lease_until": .integer(last)]
    }
}

// Reading and writing rows.
extension CopiedTable {
    private var names: String { columns.map(\.name).joined(separator: ", ") }
    private var keyNames: String { key.joined(separator: ", ") }

    /// Reads up to `limit` rows after a key, without their leases.
    func page(
        after key: [Value]?, _ limit: Int, in database: any Database
    ) throws(DatabaseFailure) -> [[Value]] {
        let places = self.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let condition = key == nil ? "" : "WHERE (\(keyNames)) > (\(places))"
        let rows = try database.run(
            "SELECT \(names) FROM \(name) \(condition) ORDER BY \(keyNames) LIMIT \(limit)",
            key ?? [])
        return rows.map(withoutLease)
    }

    private func withoutLease(_ row: [Value]) -> [Value] {
        guard let owner = columns.firstIndex(where: { $0.name == "lease_owner" }),
            row[owner] != .null
        else { return row }
        let changes = released(
            Dictionary(zip(columns.map(\.name), row), uniquingKeysWith: { first, _ in first }))
        return zip(columns, row).map { changes[$0.name] ?? $1 }
    }

    func key(of row: [Value]) -> [Value] {
        key.compactMap { name in
            zip(columns, row).first { $0.0.name == name }?.1
        }
    }

    /// The highest key; nil if the table is empty.
    func lastKey(in database: any Database) throws(DatabaseFailure) -> [Value]? {
        let order = key.map { "\($0) DESC" }.joined(separator: ", ")
        return try database.run("SELECT \(keyNames) FROM \(name) ORDER BY \(order) LIMIT 1").first
    }

    func add(_ rows: [[Value]], to database: any Database) throws(DatabaseFailure) {
        try database.copy(rows, into: name, columns.map(\.name))
    }

    /// Fails if the table or a column is missing.
    func requireColumns(in database: any Database) throws(DatabaseFailure) {
        _ = try database.run("SELECT \(names) FROM \(name) LIMIT 1")
    }
}
