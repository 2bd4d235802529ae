internal import Lifecycle

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
        if let lock = dialect.lockKeys { _ = try run(lock) }
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
    func write(
        _ changes: VaultChanges, releasing released: VaultRelease?
    ) throws(DatabaseFailure) {
        _ = try run(deleting, each: changes.removals.map(\.values))
        let changed = changes.updates.compactMap { update in
            update.replaced.map { (old: $0, new: update.record) }
        }
        _ = try run(
            updating,
            each: changed.map { old, new in
                let owner = released.flatMap {
                    $0.rows.contains(VaultRowKey(old)) || $0.rows.contains(VaultRowKey(new.id))
                        ? $0.owner : nil
                }
                return new.values + VaultRowKey(old).values.dropFirst() + [.text(owner ?? "")]
            })
        let new = changes.updates.filter { $0.replaced == nil }.map(\.record.values)
        _ = try run(inserting, each: new)
        if let released {
            let kept = released.rows.subtracting(
                changed.flatMap { [VaultRowKey($0.old), VaultRowKey($0.new.id)] })
            _ = try run(
                releasing, each: kept.sorted().map { $0.values + [.text(released.owner)] })
        }
        try insert(changes.history)
        for user in changes.erased { try eraseHistory(of: user) }
    }

    private var deleting: String {
        """
        DELETE FROM vault_token
        WHERE client_id = $1 AND user_id = $2 AND token_fingerprint = $3
        """
    }

    /// Records that were checked lately are claimed late. Fails if another client inserted a record
    /// since it was looked for; ``DatabaseFailure/Remedy/repetition`` then succeeds.
    private var inserting: String {
        """
        INSERT INTO vault_token (\(VaultRecord.columns), lease_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
            CASE WHEN $10 < \(dialect.now) THEN $10 ELSE 0 END)
        """
    }

    /// The lease of another owner remains.
    private var updating: String {
        """
        UPDATE vault_token SET user_id = $2, token_fingerprint = $3,
            state = $4, key_number = $5, version = $6, sealed = $7,
            stored_at = $8, changed_at = $9, checked_at = $10,
            lease_until = CASE
                WHEN lease_until > \(dialect.now) AND lease_owner <> $13 THEN lease_until
                ELSE \(dialect.now) END,
            given_back_at = CASE WHEN lease_owner = $13 THEN \(dialect.moment)
                ELSE given_back_at END
        WHERE client_id = $1 AND user_id = $11 AND token_fingerprint = $12
        """
    }

    private var releasing: String {
        """
        UPDATE vault_token SET lease_until = \(dialect.now), given_back_at = \(dialect.moment)
        WHERE client_id = $1 AND user_id = $2 AND token_fingerprint = $3 AND lease_owner = $4
            AND lease_until > \(dialect.now)
        """
    }
}
