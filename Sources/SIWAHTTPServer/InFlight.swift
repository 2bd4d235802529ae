internal import SIWALifecycle
internal import Synchronization

/// The requests that are being answered. A server must not stop before each of them has released
/// its connection.
final class InFlight: Sendable {
    private enum Slot {
        /// The handler is being called.
        case begun
        /// A task is running; the reply is nil if it sends a body.
        case running(Task<Void, Never>, ServerReply?)
        /// A callback will answer.
        case promised(ServerReply)

        /// With what the request can be dropped; nil while it cannot.
        var reply: ServerReply? {
            switch self {
            case .begun: nil
            case .running(_, let reply): reply
            case .promised(let reply): reply
            }
        }
    }

    private struct State {
        var slots: [ObjectIdentifier: Slot] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let changes = WakeSignal()

    /// Adds a request; returns false if the server is stopping.
    func begin(_ key: ObjectIdentifier) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.slots[key] = .begun
            return true
        }
    }

    /// Notes the task that answers a request; it is cancelled when the server stops.
    func run(_ key: ObjectIdentifier, _ task: Task<Void, Never>, _ reply: ServerReply? = nil) {
        let isTooLate = state.withLock { state in
            // It may have ended already.
            guard state.slots[key] != nil else { return false }
            state.slots[key] = .running(task, reply)
            return state.isClosed
        }
        if isTooLate { task.cancel() }
    }

    /// Notes that a callback will answer a request.
    func promise(_ key: ObjectIdentifier, _ reply: ServerReply) {
        state.withLock { $0.slots[key] = .promised(reply) }
    }

    /// Removes a request.
    func end(_ key: ObjectIdentifier) {
        let isLast = state.withLock { state in
            state.slots[key] = nil
            return state.isClosed && state.slots.isEmpty
        }
        if isLast { changes.notify() }
    }

    /// Admits no more requests, cancels all tasks, and returns when all requests are answered or
    /// dropped.
    ///
    /// - Parameter grace: how long a cancelled task may take to answer.
    /// - Returns: how many requests were dropped.
    func close(grace: Duration) async -> Int {
        let slots = state.withLock { state in
            state.isClosed = true
            return Array(state.slots.values)
        }
        for case .running(let task, _) in slots { task.cancel() }
        await wait(atMost: grace)
        // They wait for something that ignores cancellation, or cannot be cancelled.
        let late = state.withLock { $0.slots.values.compactMap(\.reply) }
        for reply in late { reply.send(ServerResponse(status: 503, body: .dropped)) }
        await wait(atMost: .seconds(3600))
        return late.count
    }

    /// Waits until all requests are answered.
    private func wait(atMost limit: Duration) async {
        let end = ContinuousClock.now + limit
        while case let left = end - .now, left > .zero {
            let count = changes.count
            if state.withLock({ $0.slots.isEmpty }) { return }
            await changes.wait(after: count, atMost: left)
        }
    }
}
