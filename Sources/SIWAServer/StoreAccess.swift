package import Lifecycle
package import ServerRecords

/// Runs blocking calls of the store on their own threads.
package struct StoreAccess: Sendable {
    /// The store, for calls on these threads.
    package let store: any ServerStore
    private let threads: any TaskExecutor

    /// - Parameter threads: the executor for blocking calls only.
    package init(_ store: any ServerStore, on threads: any TaskExecutor) {
        (self.store, self.threads) = (store, threads)
    }

    /// Runs a blocking function. It continues if the caller is cancelled.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (any ServerStore) throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let store = store
        let call = Task(executorPreference: threads) { () -> Result<Value, VaultError> in
            do throws(VaultError) {
                return .success(try body(store))
            } catch {
                return .failure(error)
            }
        }
        return try await call.value.get()
    }
}

extension StoreAccess {
    /// Starts a blocking function without waiting for it.
    @Sendable func start(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: threads) { body() }
    }
}
