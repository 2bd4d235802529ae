package import SIWALifecycle
internal import Synchronization

/// A store's single connection: opened when first needed, and reopened after it broke.
package final class ConnectionPool: Sendable {
    private let connector: any DatabaseConnector
    /// Checks a new connection, and migrates its tables.
    private let prepare: @Sendable (any Database) throws(DatabaseFailure) -> Void
    private let turn = Mutex(())
    /// Used only by the caller whose turn it is.
    nonisolated(unsafe) private var connection: (any Database)?

    package init(
        _ connector: any DatabaseConnector,
        preparing prepare: @escaping @Sendable (any Database) throws(DatabaseFailure) -> Void
    ) {
        (self.connector, self.prepare) = (connector, prepare)
    }

    /// Runs `body` as one transaction. It is repeated once if the connection broke, and when
    /// another transaction conflicted.
    package func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        try persistently { () throws(DatabaseFailure) in
            let database = if let connection { connection } else { try open() }
            connection = database
            if access == .writing { database.prepareToWrite() }
            return try database.transaction(access, body)
        }
    }

    /// Runs `body` as one transaction on a connection of its own, without migrating the tables.
    package func examine<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(DatabaseFailure) {
            return try connector.connect(creating: false).transaction(access, body)
        } catch {
            throw error.error
        }
    }

    /// Closes the connection; the next transaction opens another one.
    package func close() { turn.withLock { _ in connection = nil } }

    /// Creates a database file unless it exists, and runs `body` as one transaction.
    package func create(
        _ body: (any Database) throws(DatabaseFailure) -> Void
    ) throws(StoreError) {
        try persistently { () throws(DatabaseFailure) in
            let database =
                if let connection { connection } else { try connector.connect(creating: true) }
            try database.transaction(.writing, body)
            connection = database
        }
    }

    private func open() throws(DatabaseFailure) -> any Database {
        let database = try connector.connect(creating: false)
        try prepare(database)
        return database
    }

    /// The number of conflicting transactions in a row that is reported as an error.
    private static let repetitions = 30

    private func persistently<Result: Sendable>(
        _ body: () throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        try turn.withLock { _ throws(StoreError) in
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
