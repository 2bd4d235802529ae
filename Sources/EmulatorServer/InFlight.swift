internal import Synchronization

/// The requests that are being answered: a server must not stop before each of them has
/// let go of its connection.
final class InFlight: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var count = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Runs `answer` after `prepare`; false, and neither of them, once the server is stopping.
    func start(
        prepare: () -> Void, answer: @escaping @Sendable () async -> Void
    ) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            prepare()
            let number = state.count
            state.count += 1
            // It cannot remove itself before it is entered: that takes the same lock.
            state.tasks[number] = Task {
                await answer()
                self.state.withLock { $0.tasks[number] = nil }
            }
            return true
        }
    }

    /// Lets nothing in any more, ends every wait, and returns when all have let go.
    func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
