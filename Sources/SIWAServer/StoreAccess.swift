import SIWALifecycle
import SIWAServerRecords

/// Runs blocking calls of the store on their own threads.
struct StoreAccess: Sendable {
    /// The store, for calls on these threads.
    let store: ServerStore
    private let threads: any TaskExecutor
    /// How long a call waits for a thread; nil for any time.
    let maxWait: Duration?
    private let elapsed: @Sendable () -> Duration
    fileprivate let watch: DatabaseWatch?

    /// - Parameters:
    ///   - threads: the executor for blocking calls only.
    ///   - maxWait: how long a call waits for a thread; nil for any time.
    ///   - watch: notes calls that failed.
    init(
        _ store: ServerStore, on threads: any TaskExecutor, maxWait: Duration? = nil,
        timekeeper: Timekeeper = .system, watch: DatabaseWatch? = nil
    ) {
        (self.store, self.threads, self.maxWait) = (store, threads, maxWait)
        (elapsed, self.watch) = (timekeeper.elapsed, watch)
    }

    /// Runs a blocking function. It continues if the caller is cancelled.
    ///
    /// - Throws: ``StoreError`` of kind `busy`, without running it, if earlier calls take too long:
    ///   while the database does not answer, callers must not wait for each other's time limits.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (ServerStore) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let (store, maxWait, elapsed, start) = (store, maxWait, elapsed, elapsed())
        let call = Task(executorPreference: threads) { () -> Result<Value, StoreError> in
            if let maxWait, elapsed() - start >= maxWait {
                return .failure(
                    StoreError(.busy, "earlier calls of the database take too long"))
            }
            do throws(StoreError) {
                return .success(try body(store))
            } catch {
                return .failure(error)
            }
        }
        do throws(StoreError) {
            return try await call.value.get()
        } catch {
            watch?.fail(error)
            throw error
        }
    }
}

extension StoreAccess {
    /// Notes why a function that ``start(_:)`` started failed.
    func note(_ error: StoreError) { watch?.fail(error) }

    /// Notes that a record of the vault could not be read, which did not stop the call.
    func noteRecord(_ error: StoreError) { watch?.noteRecord(error) }

    /// Starts a function that may block between its waits.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        Task(executorPreference: threads) { await body() }
    }

    /// Starts a blocking function without waiting for it.
    @Sendable func start(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: threads) { body() }
    }
}
