internal import SIWADatabases
internal import SIWALifecycle
package import SIWAVaultRecords

extension Schema {
    /// The tables of siwa-server. Their version is independent of the vault's.
    ///
    /// Times are in whole seconds, except for `due_at`, `holds_until`, `lease_until`,
    /// `heartbeat_at` and those of `code_journal`, which are in milliseconds. Leased rows are due
    /// when their lease ends. The keys are the only constraints: an invalid row is reported as
    /// damaged, and must not prevent the use of others.
    package static let server: Schema = Schema(
        table: "server_schema", others: CopiedTable.server.map(\.name) + ["server_instance"],
        subject: "the tables of siwa-server",
        missing: (.serverNotInitialized, "there are no tables of siwa-server"), first: 3,
        creation: { dialect in
            [
                """
                CREATE TABLE server_schema (version \(dialect.integer) NOT NULL)
                \(dialect.tableOptions)
                """
            ] + inbox(dialect) + journal(dialect) + revocations(dialect) + revocationJobs(dialect)
                + apiTokens(dialect) + counts(dialect) + servers(dialect)
        }, migrations: [{ ["ALTER TABLE server_instance ADD COLUMN facts \($0.text)"] }])

    /// `mark` is the random part of an event's cursor; `inbox_mark` keeps marks of deleted events
    /// that no page would have shown. First attempts and retries have an index each, so that many
    /// of one kind do not hide the other.
    private static func inbox(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE inbox_event (
                position \(integer) NOT NULL PRIMARY KEY,
                jti \(text) NOT NULL UNIQUE,
                type \(text) NOT NULL,
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                event_time \(integer) NOT NULL,
                received_at \(integer) NOT NULL,
                expires_at \(integer) NOT NULL,
                state \(text) NOT NULL,
                changed_at \(integer) NOT NULL,
                attempts \(integer) NOT NULL DEFAULT 0,
                due_at \(integer),
                holds_until \(integer),
                lease_owner \(text),
                last_error \(text),
                body \(dialect.bytes),
                mark \(integer) NOT NULL
            ) \(dialect.tableOptions)
            """,
            """
            CREATE TABLE inbox_mark (
                position \(integer) NOT NULL PRIMARY KEY,
                mark \(integer) NOT NULL
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX inbox_event_list ON inbox_event (state, position)",
            "CREATE INDEX inbox_event_state ON inbox_event (state, changed_at)",
            """
            CREATE INDEX inbox_event_user ON inbox_event (user_id, state, event_time, position)
            """,
            """
            CREATE INDEX inbox_event_first ON inbox_event (state, due_at, position)
            WHERE state = 'pending' AND attempts <= 0
            """,
            """
            CREATE INDEX inbox_event_retry ON inbox_event (state, due_at, position)
            WHERE state = 'pending' AND attempts > 0
            """,
        ]
    }

    private static func journal(_ dialect: Dialect) -> [String] {
        let (integer, text, bytes) = (dialect.integer, dialect.text, dialect.bytes)
        return [
            """
            CREATE TABLE code_journal (
                code_sha256 \(bytes) NOT NULL PRIMARY KEY,
                client_id \(text) NOT NULL,
                parameters \(bytes) NOT NULL,
                state \(text) NOT NULL,
                changed_at \(integer) NOT NULL,
                lease_owner \(text) NOT NULL,
                lease_until \(integer) NOT NULL,
                key_number \(integer),
                answer \(bytes)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX code_journal_time ON code_journal (changed_at)",
            """
            CREATE INDEX code_journal_answer ON code_journal (changed_at) WHERE answer IS NOT NULL
            """,
        ]
    }

    /// `answered_202` says that the end of a revocation is delivered to the application.
    private static func revocations(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE revocation (
                \(dialect.numberedRows),
                revocation_id \(text) NOT NULL UNIQUE,
                client_id \(text),
                user_id \(text),
                requested_at \(integer) NOT NULL,
                state \(text) NOT NULL,
                ended_at \(integer),
                answered_202 \(integer) NOT NULL DEFAULT 0
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX revocation_state ON revocation (state, requested_at)",
            """
            CREATE INDEX revocation_end ON revocation (ended_at) WHERE ended_at IS NOT NULL
            """,
            """
            CREATE INDEX revocation_user ON revocation (user_id, id) WHERE user_id IS NOT NULL
            """,
            """
            CREATE TABLE revocation_part (
                revocation \(integer) NOT NULL,
                job \(integer) NOT NULL,
                PRIMARY KEY (revocation, job)
            ) \(dialect.orderedTableOptions)
            """,
            "CREATE INDEX revocation_part_job ON revocation_part (job)",
        ]
    }

    private static func revocationJobs(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE revocation_job (
                \(dialect.numberedRows),
                client_id \(text) NOT NULL,
                user_id \(text),
                token_fingerprint \(text) NOT NULL,
                kind \(text) NOT NULL,
                proof \(text) NOT NULL,
                state \(text) NOT NULL,
                was_active \(integer),
                http_status \(integer),
                apple_request_id \(text),
                evidence \(text),
                refresh_status \(integer),
                attempts \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                due_at \(integer),
                ended_at \(integer),
                last_error \(text),
                key_number \(integer),
                sealed \(dialect.bytes),
                lease_owner \(text),
                is_unusual \(integer) NOT NULL DEFAULT 0,
                last_error_code \(text)
            ) \(dialect.tableOptions)
            """,
            """
            CREATE UNIQUE INDEX revocation_job_token ON revocation_job (client_id, token_fingerprint)
            WHERE state = 'pending'
            """,
            """
            CREATE INDEX revocation_job_due ON revocation_job (state, due_at, id)
            WHERE due_at IS NOT NULL
            """,
            """
            CREATE INDEX revocation_job_user ON revocation_job (user_id) WHERE user_id IS NOT NULL
            """,
        ]
    }

    private static func apiTokens(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE api_token (
                name \(text) NOT NULL PRIMARY KEY,
                sha256 \(dialect.bytes) NOT NULL,
                scopes \(text) NOT NULL,
                created_at \(integer) NOT NULL,
                expires_at \(integer)
            ) \(dialect.tableOptions)
            """
        ]
    }

    /// `position` is the place of the newest event: a transaction that adds events locks its row
    /// until the commit, so that events are committed in the order of their positions. The deletion
    /// level is the highest position of a deleted event that a page would have shown, with that
    /// event's mark; see ``EventHistory``.
    private static func counts(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE server_count (
                name \(text) NOT NULL PRIMARY KEY,
                value \(integer) NOT NULL
            ) \(dialect.tableOptions)
            """,
            "INSERT INTO server_count (name, value) VALUES ('position', 0)",
            "INSERT INTO server_count (name, value) VALUES ('tokens_counted_at', 0)",
            "INSERT INTO server_count (name, value) VALUES ('deletion_level', 0)",
            "INSERT INTO server_count (name, value) VALUES ('deletion_mark', 0)",
            "INSERT INTO server_count (name, value) VALUES ('deletion_round', 0)",
            """
            CREATE TABLE server_activity (
                hour \(integer) NOT NULL,
                kind \(text) NOT NULL,
                value \(integer) NOT NULL,
                PRIMARY KEY (hour, kind)
            ) \(dialect.orderedTableOptions)
            """,
            """
            CREATE TABLE server_token_count (
                client_id \(text) NOT NULL,
                state \(text) NOT NULL,
                value \(integer) NOT NULL,
                PRIMARY KEY (client_id, state)
            ) \(dialect.orderedTableOptions)
            """,
        ]
    }

    /// A row is a running server. `facts` is a JSON object, ``ServerFacts``.
    private static func servers(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE server_instance (
                id \(text) NOT NULL PRIMARY KEY,
                host \(text) NOT NULL,
                version \(text) NOT NULL,
                started_at \(integer) NOT NULL,
                heartbeat_at \(integer) NOT NULL,
                lease_until \(integer) NOT NULL
            ) \(dialect.tableOptions)
            """
        ]
    }
}
