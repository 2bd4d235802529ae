internal import Synchronization

/// Wakes whoever waits for something to change.
final class News: Sendable {
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// How often something has changed. Whoever looks around after asking this and then waits
    /// with ``next(after:)`` misses nothing.
    var count: Int { state.withLock { $0.count } }

    /// Something has changed.
    func ring() {
        let waiting = state.withLock { state in
            state.count &+= 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until something has changed since there were `count` changes.
    func next(after count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count == count { state.waiting.append(continuation) }
                return state.count != count
            }
            if isOver { continuation.resume() }
        }
    }
}
