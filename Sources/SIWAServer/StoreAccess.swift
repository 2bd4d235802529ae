package import Lifecycle
package import ServerRecords

/// Calls of the store, which block, on threads of their own.
package struct StoreAccess: Sendable {
    /// The store, for calls from such threads.
    package let store: any ServerStore
    private let threads: any TaskExecutor

    /// - Parameter threads: where calls block; nothing else should run there.
    package init(_ store: any ServerStore, on threads: any TaskExecutor) {
        (self.store, self.threads) = (store, threads)
    }

    /// Runs something that blocks. It goes on if the caller is cancelled.
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
    /// Runs something that blocks and that nobody waits for here.
    @Sendable func start(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: threads) { body() }
    }
}
