/// Where the SQL of two databases differs; the rest is the same text for both.
struct Dialect: Sendable {
    /// The type of a 64-bit integer.
    let integer: String
    /// The type of a text that is ordered by its UTF-8.
    let text: String
    /// The type of bytes.
    let bytes: String
    /// What follows the columns of a table with a key of its own.
    let tableOptions: String
    /// What follows the columns of `vault_token`, which is stored in the order of its key.
    let orderedTableOptions: String
    /// The database's clock, in whole seconds: one moment during a statement, so that an index
    /// can be searched for it.
    let now: String
    /// The same clock in milliseconds: tells what happened first.
    let moment: String
    /// What keeps others from the rows of a SELECT; waits for those who hold one.
    let lockingRows: String
    /// The same, leaving out what others hold.
    let skippingLockedRows: String
    /// Asks whether there is a vault: a row, or none.
    let vaultExists: String
    /// Keeps everybody else from making or changing the tables; nil where a transaction that
    /// writes has done that.
    let lockSchema: String?
    /// Keeps everybody else from making a key; nil likewise.
    let lockKeys: String?
    /// Begins a transaction that reads, and one that writes.
    let beginReading, beginWriting: String

    func begin(_ access: Access) -> String {
        switch access {
        case .reading: beginReading
        case .writing: beginWriting
        }
    }

    static let sqlite = Self(
        integer: "INTEGER", text: "TEXT", bytes: "BLOB", tableOptions: "STRICT",
        orderedTableOptions: "STRICT, WITHOUT ROWID",
        now: "CAST(strftime('%s', 'now') AS INTEGER)",
        moment: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
        lockingRows: "", skippingLockedRows: "",
        vaultExists: "SELECT 1 FROM sqlite_schema WHERE name = 'vault_schema'",
        lockSchema: nil, lockKeys: nil, beginReading: "BEGIN", beginWriting: "BEGIN IMMEDIATE")

    static let postgres = Self(
        integer: "BIGINT", text: "TEXT COLLATE \"C\"", bytes: "BYTEA", tableOptions: "",
        orderedTableOptions: "",
        now: "CAST(floor(extract(epoch FROM statement_timestamp())) AS BIGINT)",
        moment: "CAST(floor(extract(epoch FROM statement_timestamp()) * 1000) AS BIGINT)",
        lockingRows: "FOR UPDATE", skippingLockedRows: "FOR UPDATE SKIP LOCKED",
        vaultExists: "SELECT 1 WHERE to_regclass('vault_schema') IS NOT NULL",
        lockSchema: "SELECT 1 FROM pg_advisory_xact_lock(\(vaultLock))",
        lockKeys: "LOCK TABLE vault_key IN SHARE MODE",
        beginReading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        beginWriting: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    /// A number that nobody else locks by: "siwa" in ASCII.
    private static let vaultLock = 0x7369_7761
}
