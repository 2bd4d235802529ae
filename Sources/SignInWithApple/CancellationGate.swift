internal import Lifecycle
internal import Synchronization

/// Lets work be cancelled until a code may have left, and not afterwards.
final class CancellationGate: Sendable {
    private struct State {
        var isClosed = false
        var isCancelled = false
        /// Cancels the work, once it has begun.
        var cancelWork: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Does `body` in a task of its own, which the caller's cancellation reaches through the gate.
    ///
    /// The task begins only when a cancellation would be seen: one that came before closes the way.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await withTaskCancellationHandler {
            let task = Task { await body() }
            let isDue = state.withLock { state in
                state.cancelWork = { task.cancel() }
                return state.isCancelled && !state.isClosed
            }
            if isDue { task.cancel() }
            return await task.value
        } onCancel: {
            let cancelWork = state.withLock { state in
                state.isCancelled = true
                return state.isClosed ? nil : state.cancelWork
            }
            cancelWork?()
        }
    }

    /// Stops cancellation from here on; false if it came before.
    func close() -> Bool {
        state.withLock { state in
            state.isClosed = !state.isCancelled
            return state.isClosed
        }
    }

    /// Lets cancellation through again, because the code did not leave; false if it came meanwhile.
    func open() -> Bool {
        state.withLock { state in
            state.isClosed = false
            return !state.isCancelled
        }
    }
}

/// Closes a gate while a request is on its way, and for good once it may have left.
struct GatedTransport: Lifecycle.Transport {
    private let base: any Lifecycle.Transport
    private let gate: CancellationGate

    init(_ base: any Lifecycle.Transport, _ gate: CancellationGate) {
        (self.base, self.gate) = (base, gate)
    }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(Lifecycle.TransportError) -> HTTPResponse {
        guard gate.close() else { throw Self.cancelled }
        do {
            return try await base.send(request, timeout: timeout)
        } catch {
            guard error.requestMayHaveLeft || gate.open() else { throw Self.cancelled }
            throw error
        }
    }

    private static var cancelled: Lifecycle.TransportError {
        Lifecycle.TransportError(
            .cancelled, "the task was cancelled", requestMayHaveLeft: false)
    }
}
