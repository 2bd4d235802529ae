internal import SignInWithApple

/// A database refused, and what can be done about it.
struct DatabaseFailure: Error {
    /// What its caller hears when nothing helps.
    let error: VaultError
    /// What helps, perhaps.
    let remedy: Remedy

    enum Remedy {
        /// Nothing, now.
        case none
        /// Another transaction was in the way: the same one once more.
        case repetition
        /// The connection is gone: the same on a new one.
        case reconnection
    }

    init(_ error: VaultError, _ remedy: Remedy = .none) {
        (self.error, self.remedy) = (error, remedy)
    }

    init(_ kind: VaultError.Kind, _ message: String, _ remedy: Remedy = .none) {
        self.init(VaultError(kind, message), remedy)
    }
}

/// Runs what throws the domain's error among what throws the database's.
func lifting<Result>(
    _ body: () throws(VaultError) -> Result
) throws(DatabaseFailure) -> Result {
    do throws(VaultError) { return try body() } catch { throw DatabaseFailure(error) }
}
