internal import Synchronization

/// Concurrent calls with the same key share one execution, which continues if its callers are
/// cancelled.
final class JoinedCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Mutex<[Key: Task<Value, Never>]>([:])

    /// Waits for the current call of `key`; nil if absent.
    func value(of key: Key) async -> Value? {
        await running.withLock { $0[key] }?.value
    }

    /// Joins the current call of `key`, or starts one.
    func join(_ key: Key, _ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = running.withLock { running in
            if let task = running[key] { return task }
            let task = Task {
                defer { self.running.withLock { _ = $0.removeValue(forKey: key) } }
                return await body()
            }
            running[key] = task
            return task
        }
        return await task.value
    }

    /// Starts a call that joins no other: one of `key` that has ended, but is still listed, is
    /// waited for.
    func startNext(
        _ key: Key, _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        while await value(of: key) != nil {}
        return await join(key, body)
    }

    /// Waits for all current calls.
    func drain() async {
        while let task = running.withLock({ $0.values.first }) { _ = await task.value }
    }
}
