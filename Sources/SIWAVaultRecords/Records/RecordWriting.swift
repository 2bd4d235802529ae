package import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle

// What a store changes.
extension Database {
    /// Adds a key; an existing key with the same number is unchanged.
    func insert(_ key: VaultKeyCheck) throws(DatabaseFailure) {
        _ = try run(
            """
            INSERT INTO vault_key (number, check_value) VALUES ($1, $2)
            ON CONFLICT (number) DO NOTHING
            """, .integer(key.number), .bytes(key.sealed))
    }

    /// Fails unless the newest key is the one that records were encrypted with; until the
    /// transaction ends, none can be made.
    func requireNewest(among numbers: Set<Int>) throws(DatabaseFailure) {
        if let lock = dialect.holdTable { _ = try run(lock("vault_key")) }
        let newest = try run("SELECT max(number) FROM vault_key").first?.first?.integer ?? 0
        if let older = numbers.min(), older < newest {
            throw DatabaseFailure(
                .keySuperseded, "the vault is encrypted with key \(newest) by now")
        }
        if let unknown = numbers.max(), unknown > newest {
            throw DatabaseFailure(
                .key, "the vault does not know key \(unknown), which a record is encrypted with")
        }
    }

    /// Carries changes out, and ends the leases that `released` names.
    package func write(
        _ changes: VaultChanges, releasing released: VaultRelease?
    ) throws(DatabaseFailure) {
        try delete(changes.removals)
        let changed = changes.updates.compactMap { update in
            update.replaced.map { (old: $0, new: update.record) }
        }
        try update(
            changed.map { old, new in
                let owner = released.flatMap {
                    $0.rows.contains(VaultRowKey(old)) || $0.rows.contains(VaultRowKey(new.id))
                        ? $0.owner : nil
                }
                return new.values + VaultRowKey(old).values.dropFirst() + [.text(owner ?? "")]
            })
        try insert(changes.updates.filter { $0.replaced == nil }.map(\.record))
        if let released {
            let kept = released.rows.subtracting(
                changed.flatMap { [VaultRowKey($0.old), VaultRowKey($0.new.id)] })
            try release(kept.sorted().map { $0.values + [.text(released.owner)] })
        }
        try insert(changes.history)
        for user in changes.erased { try eraseHistory(of: user) }
    }

    private func delete(_ rows: [VaultRowKey]) throws(DatabaseFailure) {
        _ = try run(for: RowList(columns: RowList.key, rows: rows.map(\.values))) { row in
            "DELETE FROM vault_token \(row.source("USING")) WHERE \(row.isTheSameToken)"
        }
    }

    /// Adds records. Those that were checked lately are claimed late. Fails if another client inserted
    /// one of them since it was looked for; ``DatabaseFailure/Remedy/repetition`` then succeeds.
    private func insert(_ records: [VaultRecord]) throws(DatabaseFailure) {
        guard records.count >= Self.fewestToCopy else {
            let sql = """
                INSERT INTO vault_token (\(VaultRecord.columns), lease_until)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
                    CASE WHEN $9 < \(dialect.now) THEN $9 ELSE 0 END)
                """
            _ = try run(sql, each: records.map(\.values))
            return
        }
        let now = try time(dialect.now)
        let rows = records.map { record in
            let checkedAt = record.checkedAt?.seconds ?? 0
            return record.values + [.integer(checkedAt < now ? checkedAt : 0)]
        }
        try copy(
            rows, into: "vault_token", VaultRecord.columnList.map(\.name) + ["lease_until"])
    }

    /// Fewer are as quick without a copy, which begins with a question about the time.
    private static var fewestToCopy: Int { 50 }

    /// The lease of another owner remains.
    private func update(_ rows: [[Value]]) throws(DatabaseFailure) {
        let list = RowList(
            columns: VaultRecord.columnList + [
                .text("old_user_id"), .text("old_token_fingerprint"), .text("owner"),
            ], rows: rows)
        _ = try run(for: list) { new in
            """
            UPDATE vault_token SET user_id = \(new["user_id"]),
                token_fingerprint = \(new["token_fingerprint"]), state = \(new["state"]),
                key_number = \(new["key_number"]), sealed = \(new["sealed"]),
                stored_at = \(new["stored_at"]), changed_at = \(new["changed_at"]),
                checked_at = \(new["checked_at"]), signed_in_at = \(new["signed_in_at"]),
                lease_until = CASE
                    WHEN lease_until > \(dialect.now) AND lease_owner <> \(new["owner"])
                    THEN lease_until ELSE \(dialect.now) END,
                given_back_at = CASE WHEN lease_owner = \(new["owner"]) THEN \(dialect.moment)
                    ELSE given_back_at END
            \(new.source("FROM"))
            WHERE vault_token.client_id = \(new["client_id"])
                AND vault_token.user_id = \(new["old_user_id"])
                AND vault_token.token_fingerprint = \(new["old_token_fingerprint"])
            """
        }
    }

    private func release(_ rows: [[Value]]) throws(DatabaseFailure) {
        let list = RowList(columns: RowList.key + [.text("owner")], rows: rows)
        _ = try run(for: list) { row in
            """
            UPDATE vault_token
            SET lease_until = \(dialect.now), given_back_at = \(dialect.moment)
            \(row.source("FROM"))
            WHERE \(row.isTheSameToken) AND lease_owner = \(row["owner"])
                AND lease_until > \(dialect.now)
            """
        }
    }
}
