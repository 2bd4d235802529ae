internal import Synchronization

/// Wakes tasks that wait for a change, and calls listeners on the thread of the change.
///
/// Read ``count``, check the condition, and only then call ``wait(after:)``: a notification in
/// between ends the wait at once.
package final class WakeSignal: Sendable {
    // Tasks are resumed and listeners called after this lock is released: resuming takes the task's
    // lock, which a thread that cancels the task holds while it waits for this one.
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var lastKey = 0
        // No dictionaries, because the runtime would create their types at every start.
        var waiting: [(key: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var listeners: [(key: Int, call: @Sendable () -> Void)] = []

        mutating func newKey() -> Int {
            lastKey += 1
            return lastKey
        }
    }

    /// Identifies a listener, for removing it.
    package struct Listener: Sendable {
        fileprivate let key: Int
    }

    /// A signal without waiting tasks.
    package init() {}

    /// The number of notifications so far.
    package var count: Int { state.withLock { $0.count } }

    /// Ends all waits and calls all listeners.
    package func notify() {
        let (waiting, listeners) = state.withLock { state in
            state.count &+= 1
            defer { state.waiting = [] }
            return (state.waiting, state.listeners)
        }
        for listener in listeners { listener.call() }
        for one in waiting { one.continuation.resume() }
    }

    /// Waits until there are more than `count` notifications, or until the task is cancelled.
    ///
    /// - Parameter count: at most ``count``.
    package func wait(after count: Int) async {
        let key = state.withLock { $0.newKey() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.count <= count, !Task.isCancelled else { return true }
                    state.waiting.append((key, continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.key == key }.map { state.waiting.remove(at: $0) }
            }
            cancelled?.continuation.resume()
        }
    }

    /// Waits until there are more than `count` notifications, until `limit` has passed, or until
    /// the task is cancelled.
    package func wait(
        after count: Int, atMost limit: Duration, by timekeeper: Timekeeper = .system
    ) async {
        let waiting = Task { await wait(after: count) }
        let timer = Task {
            try? await timekeeper.sleep(limit)
            waiting.cancel()
        }
        await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            waiting.cancel()
        }
        timer.cancel()
    }

    /// Adds a listener.
    ///
    /// - Parameter listener: called on any thread; must neither block nor notify this signal.
    @discardableResult
    package func addListener(_ listener: @escaping @Sendable () -> Void) -> Listener {
        state.withLock { state in
            let key = state.newKey()
            state.listeners.append((key, listener))
            return Listener(key: key)
        }
    }

    /// Removes a listener. A notification that has begun may still call it.
    package func remove(_ listener: Listener) {
        state.withLock { state in state.listeners.removeAll { $0.key == listener.key } }
    }
}
