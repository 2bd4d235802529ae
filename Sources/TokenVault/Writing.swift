internal import SignInWithApple

/// What a record was, and what it is to be.
struct Change {
    let user: VaultUser
    let before: VaultRecord?
    let after: VaultRecord?
}

// What a store changes.
extension Database {
    /// Adds a key; one of its number that is there is left alone.
    func insert(_ key: VaultKeyCheck) throws(DatabaseFailure) {
        _ = try run(
            """
            INSERT INTO vault_key (number, check_value) VALUES ($1, $2)
            ON CONFLICT (number) DO NOTHING
            """, .integer(key.number), .bytes(key.sealed))
    }

    /// Fails when there is a newer key; until the transaction ends, none can be made.
    func requireNewest(key: Int) throws(DatabaseFailure) {
        if let lock = dialect.lockKeys { _ = try run(lock) }
        let newest = try run("SELECT max(number) FROM vault_key").first?.first?.integer
        guard let newest, newest > key else { return }
        throw DatabaseFailure(.keySuperseded, "the vault seals with key \(newest) by now")
    }

    /// Carries changes out, and ends the leases that `owner` has on any of the records.
    func write(_ changes: [Change], releasedBy owner: String?) throws(DatabaseFailure) {
        let owner = Value.text(owner ?? "")
        var (new, changed, gone, kept): ([[Value]], [[Value]], [[Value]], [[Value]]) =
            ([], [], [], [])
        for change in changes {
            switch (change.before, change.after) {
            case (nil, nil): break
            case (nil, let after?): new.append(change.user.values + after.values.dropFirst(2))
            case (_?, nil): gone.append(change.user.values)
            case (let before?, let after?) where before == after:
                kept.append(change.user.values + [owner])
            case (_?, let after?):
                changed.append(change.user.values + after.values.dropFirst(2) + [owner])
            }
        }
        _ = try run(inserting, each: new)
        _ = try run(updating, each: changed)
        _ = try run("DELETE FROM vault_token WHERE client_id = $1 AND user_id = $2", each: gone)
        if owner != .text("") { _ = try run(releasing, each: kept) }
    }

    /// What was checked lately is claimed late. Fails when somebody else made the record since
    /// it was looked for, which ``DatabaseFailure/Remedy/repetition`` helps.
    private var inserting: String {
        """
        INSERT INTO vault_token (\(VaultRecord.columns), lease_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
            CASE WHEN $9 < \(dialect.now) THEN $9 ELSE 0 END)
        """
    }

    /// The lease of somebody else stays.
    private var updating: String {
        """
        UPDATE vault_token SET state = $3, key_number = $4, version = $5, sealed = $6,
            stored_at = $7, changed_at = $8, checked_at = $9,
            lease_until = CASE
                WHEN lease_until > \(dialect.now) AND lease_owner <> $10 THEN lease_until
                ELSE \(dialect.now) END,
            given_back_at = CASE WHEN lease_owner = $10 THEN \(dialect.moment)
                ELSE given_back_at END
        WHERE client_id = $1 AND user_id = $2
        """
    }

    private var releasing: String {
        """
        UPDATE vault_token SET lease_until = \(dialect.now), given_back_at = \(dialect.moment)
        WHERE client_id = $1 AND user_id = $2 AND lease_owner = $3
            AND lease_until > \(dialect.now)
        """
    }
}
