package import SIWALifecycle

/// A failure of the database, with its remedy.
package struct DatabaseFailure: Error {
    /// The error for the caller if no remedy helps.
    package let error: StoreError
    /// The possible remedy.
    package let remedy: Remedy
    /// Whether the transaction may be on disk: its COMMIT was not answered.
    package var mayHaveCommitted = false

    package enum Remedy {
        /// No remedy.
        case none
        /// Another transaction conflicted: run the transaction again.
        case repetition
        /// The connection is lost: run the transaction again on a new one.
        case reconnection
        /// The database did not answer in time: close the connection, and do not try again.
        case disconnection
    }

    /// Whether the statement was not answered.
    package var isLoss: Bool {
        switch remedy {
        case .reconnection, .disconnection: true
        case .none, .repetition: false
        }
    }

    package init(_ error: StoreError, _ remedy: Remedy = .none) {
        (self.error, self.remedy) = (error, remedy)
    }

    package init(_ kind: StoreError.Kind, _ message: String, _ remedy: Remedy = .none) {
        self.init(StoreError(kind, message), remedy)
    }
}

extension DatabaseFailure: CustomStringConvertible {
    package var description: String { error.message }
}

extension StoreError {
    /// Adds that a change of the same call may have been committed.
    package var withUnknownCommit: StoreError {
        StoreError(
            kind, message + "; it is unknown whether the database committed the change",
            remedy: remedy, naming: userID)
    }
}

/// Runs code that throws ``StoreError`` where ``DatabaseFailure`` is expected.
package func lifting<Result>(
    _ body: () throws(StoreError) -> Result
) throws(DatabaseFailure) -> Result {
    do throws(StoreError) { return try body() } catch { throw DatabaseFailure(error) }
}
