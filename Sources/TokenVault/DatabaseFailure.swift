internal import Lifecycle

/// A database refused, and what can be done about it.
struct DatabaseFailure: Error {
    /// The error for the caller if no remedy helps.
    let error: VaultError
    /// What helps, perhaps.
    let remedy: Remedy
    /// Whether the transaction may be on disk: its COMMIT was not answered.
    var mayHaveCommitted = false

    enum Remedy {
        /// No remedy.
        case none
        /// Another transaction conflicted: run the same one once more.
        case repetition
        /// The connection is gone: the same on a new one.
        case reconnection
        /// The database did not answer in time: the connection is closed, and nothing is tried
        /// again.
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

extension VaultError {
    /// Adds that a change of the same call may have been committed.
    var withUnknownCommit: VaultError {
        VaultError(
            kind, message + "; it is unknown whether the database committed the change")
    }
}

/// Runs what throws the domain's error among what throws the database's.
func lifting<Result>(
    _ body: () throws(VaultError) -> Result
) throws(DatabaseFailure) -> Result {
    do throws(VaultError) { return try body() } catch { throw DatabaseFailure(error) }
}
