internal import Lifecycle

/// A failure of the database, with its remedy.
struct DatabaseFailure: Error {
    /// The error for the caller if no remedy helps.
    let error: VaultError
    /// The possible remedy.
    let remedy: Remedy
    /// Whether the transaction may be on disk: its COMMIT was not answered.
    var mayHaveCommitted = false

    enum Remedy {
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
    var isLoss: Bool {
        switch remedy {
        case .reconnection, .disconnection: true
        case .none, .repetition: false
        }
    }

    init(_ error: VaultError, _ remedy: Remedy = .none) {
        (self.error, self.remedy) = (error, remedy)
    }

    init(_ kind: VaultError.Kind, _ message: String, _ remedy: Remedy = .none) {
        self.init(VaultError(kind, message), remedy)
    }
}

extension DatabaseFailure: CustomStringConvertible {
    var description: String { error.message }
}

extension VaultError {
    /// Adds that a change of the same call may have been committed.
    var withUnknownCommit: VaultError {
        VaultError(
            kind, message + "; it is unknown whether the database committed the change",
            remedy: remedy)
    }
}

/// Runs code that throws ``VaultError`` where ``DatabaseFailure`` is expected.
func lifting<Result>(
    _ body: () throws(VaultError) -> Result
) throws(DatabaseFailure) -> Result {
    do throws(VaultError) { return try body() } catch { throw DatabaseFailure(error) }
}
