internal import SIWALifecycle
internal import Synchronization

/// Allows cancellation until a code may have been sent, and not afterwards.
final class CancellationGate: Sendable {
    private struct State {
        var isClosed = false
        var isCancelled = false
        /// Cancels the work; set when it has begun.
        var cancelWork: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Runs `body` in a separate task, which the caller's cancellation reaches through the gate.
    ///
    /// The task starts after the cancellation handler is installed, so that no cancellation is
    /// lost.
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

    /// Disables cancellation; false if the task was already cancelled.
    func close() -> Bool {
        state.withLock { state in
            state.isClosed = !state.isCancelled
            return state.isClosed
        }
    }

    /// Enables cancellation again, because the code was not sent; false if the task was cancelled
    /// in the meantime.
    func open() -> Bool {
        state.withLock { state in
            state.isClosed = false
            return !state.isCancelled
        }
    }
}

/// Closes a gate while a request is being sent, and permanently if it may have been sent.
struct GatedTransport: SIWALifecycle.Transport {
    private let base: any SIWALifecycle.Transport
    private let gate: CancellationGate

    init(_ base: any SIWALifecycle.Transport, _ gate: CancellationGate) {
        (self.base, self.gate) = (base, gate)
    }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(SIWALifecycle.TransportError) -> HTTPResponse {
        guard gate.close() else { throw Self.cancelled }
        do {
            return try await base.send(request, timeout: timeout)
        } catch {
            guard error.requestMayHaveLeft || gate.open() else { throw Self.cancelled }
            throw error
        }
    }

    private static var cancelled: SIWALifecycle.TransportError {
        SIWALifecycle.TransportError(
            .cancelled, "the task was cancelled", requestMayHaveLeft: false)
    }
}
