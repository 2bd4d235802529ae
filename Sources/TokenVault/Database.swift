internal import Lifecycle

/// One connection to a database; one transaction at a time, on one thread at a time.
protocol Database: AnyObject {
    /// How its SQL differs.
    var dialect: Dialect { get }

    /// Runs one statement, prepared once, and answers its rows.
    ///
    /// - Parameters:
    ///   - sql: with `$1`, `$2`, … in the place of values.
    ///   - values: in the order of those numbers.
    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]]

    /// Runs one statement with each of several lists of values, and answers the rows of each.
    func run(_ sql: String, each lists: [[Value]]) throws(DatabaseFailure) -> [[[Value]]]

    /// Adds many rows to a table.
    ///
    /// - Parameter columns: the names of the columns, in the order of the values.
    func copy(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure)

    /// Begins a transaction.
    func begin(_ access: Access) throws(DatabaseFailure)

    /// Ends a transaction that failed; a transaction that cannot be rolled back no longer exists.
    func rollBack()

    /// What is wrong with what it has stored, a sentence each.
    func faults() throws(DatabaseFailure) -> [String]
}

extension Database {
    func run(_ sql: String, _ values: Value...) throws(DatabaseFailure) -> [[Value]] {
        try run(sql, values)
    }

    func begin(_ access: Access) throws(DatabaseFailure) { _ = try run(dialect.begin(access)) }

    func run(_ sql: String, each lists: [[Value]]) throws(DatabaseFailure) -> [[[Value]]] {
        var answers: [[[Value]]] = []
        for values in lists { answers.append(try run(sql, values)) }
        return answers
    }

    func copy(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure) { try insertEach(rows, into: table, columns) }

    /// Adds rows to a table, with a statement for each.
    func insertEach(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure) {
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let sql = """
            INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))
            """
        _ = try run(sql, each: rows)
    }

    /// Runs `body` as one transaction.
    func transaction<Result>(
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

/// What a transaction does.
enum Access {
    /// It sees a snapshot of the database, and waits for no other transaction.
    case reading
    /// It changes something.
    case writing
}

/// Where a database is: what makes connections.
protocol DatabaseConnector: Sendable {
    /// How messages call it, without a password.
    var name: String { get }

    /// What protects the connection less than siwa's default does. Does not connect.
    func weaknesses() throws(DatabaseFailure) -> [VaultWeakness]

    /// Connects; a database that is a file is made only when `creating`.
    func connect(creating: Bool) throws(DatabaseFailure) -> any Database
}

extension DatabaseConnector {
    func weaknesses() throws(DatabaseFailure) -> [VaultWeakness] { [] }
}
