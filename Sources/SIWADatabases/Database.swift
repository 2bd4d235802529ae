package import SIWALifecycle

/// A connection to a database, with one transaction at a time, on one thread at a time.
package protocol Database: AnyObject {
    /// The dialect of its SQL.
    var dialect: Dialect { get }

    /// The command with which root runs SQL in it, as the owner of all tables.
    var shell: String { get }

    /// Runs a statement, which is prepared once, and returns its rows.
    ///
    /// - Parameters:
    ///   - sql: the statement, with `$1`, `$2`, … as placeholders.
    ///   - values: the values, in the order of the numbers.
    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]]

    /// Runs a statement with each of several lists of values, and returns the rows of each.
    func run(_ sql: String, each lists: [[Value]]) throws(DatabaseFailure) -> [[[Value]]]

    /// Adds many rows to a table.
    ///
    /// - Parameter columns: the names of the columns, in the order of the values.
    func copy(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure)

    /// Restores settings of the database that its file may have lost, before the first transaction
    /// that writes.
    func prepareToWrite()

    /// Begins a transaction.
    func begin(_ access: Access) throws(DatabaseFailure)

    /// Rolls back a failed transaction. Errors are ignored, because the transaction then no longer
    /// exists.
    func rollBack()

    /// The faults of the stored data, one sentence each.
    ///
    /// - Parameter tables: the tables whose indexes are examined.
    func faults(of tables: [String]) throws(DatabaseFailure) -> [String]
}

extension Database {
    package func run(_ sql: String, _ values: Value...) throws(DatabaseFailure) -> [[Value]] {
        try run(sql, values)
    }

    package func prepareToWrite() {}

    package func begin(_ access: Access) throws(DatabaseFailure) {
        _ = try run(dialect.begin(access))
    }

    package func run(_ sql: String, each lists: [[Value]]) throws(DatabaseFailure) -> [[[Value]]] {
        var answers: [[[Value]]] = []
        for values in lists { answers.append(try run(sql, values)) }
        return answers
    }

    package func copy(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure) { try insertEach(rows, into: table, columns) }

    /// Adds rows to a table, with a statement for each.
    package func insertEach(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure) {
        guard !rows.isEmpty else { return }
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let sql = """
            INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))
            """
        _ = try run(sql, each: rows)
    }

    /// Runs `body` as one transaction.
    package func transaction<Result>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(DatabaseFailure) -> Result {
        try begin(access)
        do throws(DatabaseFailure) {
            let result = try body(self)
            try commit(access)
            return result
        } catch {
            rollBack()
            throw error
        }
    }
}

extension Database {
    /// Ends a transaction whose statements succeeded. Without an answer, it is unknown whether the
    /// database committed it.
    private func commit(_ access: Access) throws(DatabaseFailure) {
        do throws(DatabaseFailure) {
            _ = try run("COMMIT")
        } catch {
            var failure = error
            failure.mayHaveCommitted = access == .writing && error.isLoss
            throw failure
        }
    }
}

/// The kind of a transaction.
package enum Access {
    /// Reads a snapshot of the database, without waiting for other transactions.
    case reading
    /// Changes the database.
    case writing
}

/// The place of a database, which opens connections.
package protocol DatabaseConnector: Sendable {
    /// The name in messages, without a password.
    var name: String { get }

    /// The settings that protect the connection less than siwa's default. Does not connect.
    func weaknesses() throws(DatabaseFailure) -> [StoreWeakness]

    /// Connects; creates a database file only if `creating`.
    func connect(creating: Bool) throws(DatabaseFailure) -> any Database

    /// Fails if the database's file cannot be opened now; does nothing for a server.
    func requireAccess() throws(DatabaseFailure)

    /// Removes a database file that has no tables, while no process uses it.
    func removeIfEmpty() throws(DatabaseFailure)
}

extension DatabaseConnector {
    package func weaknesses() throws(DatabaseFailure) -> [StoreWeakness] { [] }

    package func requireAccess() throws(DatabaseFailure) {}

    package func removeIfEmpty() throws(DatabaseFailure) {}
}
