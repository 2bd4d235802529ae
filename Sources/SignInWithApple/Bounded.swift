package import SIWALifecycle
internal import Synchronization

/// How work ended for its caller.
package enum BoundedResult<Value: Sendable>: Sendable {
    /// What the work returned.
    case value(Value)
    /// The time was over first.
    case late
    /// The caller's task was cancelled first.
    case cancelled

    /// Nil if the work did not end.
    package var value: Value? { if case .value(let value) = self { value } else { nil } }
}

/// Runs work that may ignore cancellation: it is cancelled, and left alone, when the time is over or
/// the caller is cancelled.
package func bounded<Value: Sendable>(
    by limit: Duration, _ timekeeper: Timekeeper, _ work: @escaping @Sendable () async -> Value
) async -> BoundedResult<Value> {
    let end = FirstEnd<BoundedResult<Value>>()
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            end.await(continuation)
            let working = Task { end.finish(.value(await work())) }
            let timer = Task {
                do {
                    try await timekeeper.sleep(limit)
                    end.finish(.late)
                } catch {}
            }
            end.atEnd {
                working.cancel()
                timer.cancel()
            }
        }
    } onCancel: {
        end.finish(.cancelled)
    }
}

/// Resumes a continuation with the first value, and then does what remains.
private final class FirstEnd<Value: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var value: Value?
        var continuation: CheckedContinuation<Value, Never>?
        var atEnd: (@Sendable () -> Void)?
    }

    func finish(_ value: Value) {
        let state = state.withLock { state -> State? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { (state.continuation, state.atEnd) = (nil, nil) }
            return state
        }
        state?.continuation?.resume(returning: value)
        state?.atEnd?()
    }

    func await(_ continuation: CheckedContinuation<Value, Never>) {
        let value = state.withLock { state in
            if state.value == nil { state.continuation = continuation }
            return state.value
        }
        if let value { continuation.resume(returning: value) }
    }

    /// - Parameter body: called at once if there is a value.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard state.value == nil else { return true }
            state.atEnd = body
            return false
        }
        if isOver { body() }
    }
}
