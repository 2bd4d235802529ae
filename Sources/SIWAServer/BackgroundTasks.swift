internal import Synchronization

/// Tasks that run without a caller. The process waits for them before it exits.
final class BackgroundTasks: Sendable {
    private let state = Mutex(State())

    private struct State {
        var last = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    /// The number of running tasks.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Starts a task.
    func start(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.last += 1
            let key = state.last
            state.tasks[key] = Task {
                await body()
                self.state.withLock { _ = $0.tasks.removeValue(forKey: key) }
            }
        }
    }

    /// Waits until none is running.
    func drain() async {
        while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
    }
}
