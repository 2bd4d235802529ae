internal import Lifecycle

extension Schema {
    /// The tables of the vault.
    static let vault = vault(migrations: [vaultTables, turns, tokens, moves])

    /// The tables of the vault after other migrations.
    static func vault(migrations: [@Sendable (Dialect) -> [String]]) -> Self {
        Self(
            table: "vault_schema", subject: "the vault",
            missing: (.notInitialized, "there is no vault"), migrations: migrations)
    }

    /// `lease_until` of a free record is when it was last touched: claims take the records with the
    /// oldest change first, so that they never search finished ones
    /// (docs/decisions/vault-storage.md).
    @Sendable private static func vaultTables(_ dialect: Dialect) -> [String] {
        let (integer, text, bytes) = (dialect.integer, dialect.text, dialect.bytes)
        let states = VaultState.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return [
            "CREATE TABLE vault_schema (version \(integer) NOT NULL) \(dialect.tableOptions)",
            """
            CREATE TABLE vault_key (
                number \(integer) NOT NULL PRIMARY KEY,
                check_value \(bytes) NOT NULL
            ) \(dialect.tableOptions)
            """,
            """
            CREATE TABLE vault_token (
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                state \(text) NOT NULL CHECK (state IN (\(states))),
                key_number \(integer) NOT NULL REFERENCES vault_key (number),
                version \(integer) NOT NULL,
                sealed \(bytes) NOT NULL,
                stored_at \(integer) NOT NULL,
                changed_at \(integer) NOT NULL,
                checked_at \(integer),
                lease_owner \(text),
                lease_until \(integer) NOT NULL DEFAULT 0,
                PRIMARY KEY (client_id, user_id)
            ) \(dialect.orderedTableOptions)
            """,
            "CREATE INDEX vault_token_state ON vault_token (state, client_id, user_id)",
            """
            CREATE INDEX vault_token_turn
            ON vault_token (client_id, state, lease_until, user_id)
            """,
        ]
    }

    /// Records that a run releases are for later runs. Otherwise, two parallel runs would pass
    /// refused records back and forth.
    @Sendable private static func turns(_ dialect: Dialect) -> [String] {
        ["ALTER TABLE vault_token ADD COLUMN given_back_at \(dialect.integer)"]
    }

    /// Every token is a separate record with its fingerprint, and every change of state has an
    /// entry in the history. Records of version 2 have no fingerprint (an empty text) until a
    /// command with the key opens them. The primary key is the only constraint: an invalid row is
    /// reported as damaged, and must not prevent the migration of others.
    @Sendable private static func tokens(_ dialect: Dialect) -> [String] {
        (dialect.altersConstraints ? alteredTokens(dialect) : copiedTokens(dialect))
            + [
                """
                CREATE INDEX vault_token_state
                ON vault_token (state, client_id, user_id, token_fingerprint)
                """
            ] + history(dialect)
    }

    private static func alteredTokens(_ dialect: Dialect) -> [String] {
        [
            "ALTER TABLE vault_token DROP CONSTRAINT IF EXISTS vault_token_state_check",
            "ALTER TABLE vault_token DROP CONSTRAINT IF EXISTS vault_token_key_number_fkey",
            "ALTER TABLE vault_token ALTER COLUMN version DROP NOT NULL",
            """
            ALTER TABLE vault_token ADD COLUMN token_fingerprint \(dialect.text) NOT NULL DEFAULT ''
            """,
            "ALTER TABLE vault_token DROP CONSTRAINT vault_token_pkey",
            "ALTER TABLE vault_token ADD PRIMARY KEY (client_id, user_id, token_fingerprint)",
            "DROP INDEX vault_token_state",
        ]
    }

    private static func copiedTokens(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        let columns = """
            client_id, user_id, state, key_number, version, sealed, stored_at, changed_at, \
            checked_at, lease_owner, lease_until, given_back_at
            """
        return [
            """
            CREATE TABLE vault_token_3 (
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                token_fingerprint \(text) NOT NULL DEFAULT '',
                state \(text) NOT NULL,
                key_number \(integer) NOT NULL,
                version \(integer),
                sealed \(dialect.bytes) NOT NULL,
                stored_at \(integer) NOT NULL,
                changed_at \(integer) NOT NULL,
                checked_at \(integer),
                lease_owner \(text),
                lease_until \(integer) NOT NULL DEFAULT 0,
                given_back_at \(integer),
                PRIMARY KEY (client_id, user_id, token_fingerprint)
            ) \(dialect.orderedTableOptions)
            """,
            "INSERT INTO vault_token_3 (\(columns)) SELECT \(columns) FROM vault_token",
            "DROP TABLE vault_token",
            "ALTER TABLE vault_token_3 RENAME TO vault_token",
            """
            CREATE INDEX vault_token_turn
            ON vault_token (client_id, state, lease_until, user_id)
            """,
        ]
    }

    /// The time of a token's sign-in, and whether the vault is moving to another database: `state`
    /// is NULL, `copying` in an incomplete target, `moving` or `moved` in the source; `place` is the
    /// other database, without a password; `move_id` is the same random text in both.
    @Sendable private static func moves(_ dialect: Dialect) -> [String] {
        [
            "ALTER TABLE vault_token ADD COLUMN signed_in_at \(dialect.integer)",
            "ALTER TABLE vault_schema ADD COLUMN state \(dialect.text)",
            "ALTER TABLE vault_schema ADD COLUMN place \(dialect.text)",
            "ALTER TABLE vault_schema ADD COLUMN move_id \(dialect.text)",
        ]
    }

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
