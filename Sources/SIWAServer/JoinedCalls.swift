internal import Synchronization

/// Calls that go on whatever becomes of their callers; callers with the same key share one.
final class JoinedCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Mutex<[Key: Task<Value, Never>]>([:])

    /// The result of the call that is under way for `key`; nil if none is.
    func value(of key: Key) async -> Value? {
        await running.withLock { $0[key] }?.value
    }

    /// Joins the call that is under way for `key`, or begins one.
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

    /// Waits until no call is under way.
    func drain() async {
        while let task = running.withLock({ $0.values.first }) { _ = await task.value }
    }
}
