internal import Lifecycle
internal import Synchronization

/// A store's single connection: opened when first needed, and reopened after it broke.
final class ConnectionPool: Sendable {
    private let connector: any DatabaseConnector
    private let schema: Schema
    private let turn = Mutex(())
    /// Used only by the caller whose turn it is.
    nonisolated(unsafe) private var connection: (any Database)?

    init(_ connector: any DatabaseConnector, _ schema: Schema) {
        (self.connector, self.schema) = (connector, schema)
    }

    /// Runs `body` as one transaction. It is repeated once if the connection broke, and when
    /// another transaction conflicted.
    func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        try persistently { () throws(DatabaseFailure) in
            let database = if let connection { connection } else { try open() }
            connection = database
            return try database.transaction(access, body)
        }
    }

    /// Runs `body` as one transaction on a connection of its own, without migrating the tables.
    func examine<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        do throws(DatabaseFailure) {
            return try connector.connect(creating: false).transaction(access, body)
        } catch {
            throw error.error
        }
    }

    /// Closes the connection; the next transaction opens another one.
    func close() { turn.withLock { _ in connection = nil } }

    /// Creates the tables, and the rows that `body` adds.
    func create(
        _ body: (any Database) throws(DatabaseFailure) -> Void
    ) throws(VaultError) {
        try persistently { () throws(DatabaseFailure) in
            let database =
                if let connection { connection } else { try connector.connect(creating: true) }
            try database.transaction(.writing) { database throws(DatabaseFailure) in
                try schema.create(in: database, connector.name)
                try body(database)
            }
            connection = database
        }
    }

    private func open() throws(DatabaseFailure) -> any Database {
        let database = try connector.connect(creating: false)
        let (schema, name) = (schema, connector.name)
        let isOutdated = try database.transaction(.reading) { database throws(DatabaseFailure) in
            try schema.isOutdated(in: database, name)
        }
        if isOutdated {
            try database.transaction(.writing) { database throws(DatabaseFailure) in
                try schema.migrate(database, name)
            }
        }
        return database
    }

    /// The number of conflicting transactions in a row that is reported as an error.
    private static let repetitions = 30

    private func persistently<Result: Sendable>(
        _ body: () throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        try turn.withLock { _ throws(VaultError) in
            var (reconnections, repetitions) = (1, Self.repetitions)
            var mayHaveCommitted = false
            while true {
                do throws(DatabaseFailure) { return try body() } catch {
                    mayHaveCommitted = mayHaveCommitted || error.mayHaveCommitted
                    if error.isLoss { connection = nil }
                    switch error.remedy {
                    case .reconnection where reconnections > 0: reconnections -= 1
                    case .repetition where repetitions > 0: repetitions -= 1
                    default: throw mayHaveCommitted ? error.error.withUnknownCommit : error.error
                    }
                }
            }
        }
    }
}
