internal import Dispatch
internal import SIWACPostgres
internal import SIWALifecycle
internal import Synchronization

extension PostgresAttempt {
    /// Connects on another thread, which is abandoned when the limit is reached, because libpq
    /// resolves names without a time limit.
    func connectOnAnotherThread() throws(DatabaseFailure) -> OpaquePointer {
        let outcome = ConnectionOutcome()
        DispatchQueue(label: "siwa.postgres").async {
            do throws(DatabaseFailure) {
                outcome.finish(.success(try connect()), postgres)
            } catch {
                outcome.finish(.failure(error), postgres)
            }
        }
        guard let connection = try outcome.get(limit) else { throw late }
        return connection
    }
}

/// The result of connecting on another thread, or the end of the wait for it.
private final class ConnectionOutcome: Sendable {
    private let arrival = DispatchSemaphore(value: 0)
    private let state = Mutex(State.pending)

    private enum State {
        case pending, abandoned
        case finished(Result<Connection, DatabaseFailure>)
    }

    /// A pointer that is passed to another thread.
    private struct Connection: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Passes on the outcome, or closes a connection that is too late.
    func finish(_ result: Result<OpaquePointer, DatabaseFailure>, _ postgres: siwa_postgres) {
        let result = result.map(Connection.init)
        let isAwaited = state.withLock { state in
            guard case .pending = state else { return false }
            state = .finished(result)
            return true
        }
        if !isAwaited { postgres.call.PQfinish(try? result.get().pointer) }
        arrival.signal()
    }

    /// Waits for the outcome; nil if the limit was reached.
    func get(_ limit: WaitLimit) throws(DatabaseFailure) -> OpaquePointer? {
        var slice = limit.slice
        while arrival.wait(timeout: .now() + .milliseconds(Int(slice))) == .timedOut, slice > 0 {
            slice = limit.slice
        }
        let last = state.withLock { state in
            if case .pending = state { state = .abandoned }
            return state
        }
        guard case .finished(let result) = last else { return nil }
        return try result.get().pointer
    }
}
