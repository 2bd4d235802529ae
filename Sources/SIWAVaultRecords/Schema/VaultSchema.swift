internal import SIWADatabases
internal import SIWALifecycle

extension Schema {
    /// The tables of the vault.
    package static let vault = Self(
        table: "vault_schema", others: ["vault_key", "vault_token", "vault_history"],
        subject: "the vault",
        missing: (.notInitialized, "there is no vault"),
        first: 5, creation: { versionAndKeys($0) + tokens($0) + history($0) })

    /// `state`, `place` and `move_id` say whether the vault is moving to another database: `state` is
    /// NULL, `copying` in an incomplete target, `moving` or `moved` in the source; `place` is the
    /// other database, without a password; `move_id` is the same random text in both.
    private static func versionAndKeys(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE vault_schema (
                version \(integer) NOT NULL,
                state \(text),
                place \(text),
                move_id \(text)
            ) \(dialect.tableOptions)
            """,
            """
            CREATE TABLE vault_key (
                number \(integer) NOT NULL PRIMARY KEY,
                check_value \(dialect.bytes) NOT NULL
            ) \(dialect.tableOptions)
            """,
        ]
    }

    /// Every token is a separate record with its fingerprint. The primary key is the only constraint:
    /// an invalid row is reported as damaged, and must not prevent the use of others.
    ///
    /// `lease_until` of a free record is when it was last touched: claims take the records with the
    /// oldest change first, so that they never search finished ones
    /// (docs/decisions/vault-storage.md). Records that a run releases (`given_back_at`) are for later
    /// runs. Otherwise, two parallel runs would pass refused records back and forth.
    private static func tokens(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE vault_token (
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                token_fingerprint \(text) NOT NULL,
                state \(text) NOT NULL,
                key_number \(integer) NOT NULL,
                sealed \(dialect.bytes) NOT NULL,
                stored_at \(integer) NOT NULL,
                changed_at \(integer) NOT NULL,
                checked_at \(integer),
                signed_in_at \(integer),
                lease_owner \(text),
                lease_until \(integer) NOT NULL DEFAULT 0,
                given_back_at \(integer),
                PRIMARY KEY (client_id, user_id, token_fingerprint)
            ) \(dialect.orderedTableOptions)
            """,
            """
            CREATE INDEX vault_token_state
            ON vault_token (state, client_id, user_id, token_fingerprint)
            """,
            """
            CREATE INDEX vault_token_turn
            ON vault_token (client_id, state, lease_until, user_id)
            """,
        ]
    }

    /// Every change of a token's state has an entry in the history.
    private static func history(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE vault_history (
                \(dialect.numberedRows),
                at \(integer) NOT NULL,
                event \(text) NOT NULL,
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                token_fingerprint \(text) NOT NULL,
                evidence \(text),
                http_status \(integer),
                apple_request_id \(text),
                command \(text) NOT NULL,
                host \(text) NOT NULL,
                new_user_id \(text)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX vault_history_time ON vault_history (at, id)",
            "CREATE INDEX vault_history_user ON vault_history (user_id, at, id)",
            """
            CREATE INDEX vault_history_new_user ON vault_history (new_user_id, at, id)
            WHERE new_user_id IS NOT NULL
            """,
        ]
    }
}
