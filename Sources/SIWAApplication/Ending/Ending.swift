package import SIWALifecycle
package import SIWASystem
internal import Synchronization

/// Ends a command in time after a signal: tells the process's signal handling what the command is
/// doing, and shortens the command's waits.
package final class Ending: Sendable {
    private let signals: World.Signals
    private let timekeeper: Timekeeper
    private let plan = Mutex(EndingPlan())

    package init(_ signals: World.Signals, _ timekeeper: Timekeeper) {
        (self.signals, self.timekeeper) = (signals, timekeeper)
    }

    /// The termination signal received, if any.
    package var signal: CInt? { signals.received() }

    /// Notes that the command begins `work`.
    ///
    /// - Parameter code: the state of a code; nil if it follows from `work`.
    package func begin(_ work: EndingPlan.Work, _ code: SpentCode? = nil) {
        let now = timekeeper.elapsed()
        let watchdog = plan.withLock { plan in
            if signal != nil { plan.receiveSignal(at: now) }
            plan.begin(work, at: now)
            return plan.watchdog(at: now)
        }
        signals.apply(work.policy, watchdog, code ?? work.spentCode)
    }

    /// Notes that the command begins `work`, which ends by itself within `limit` unless it hangs;
    /// the process then ends a little later.
    package func begin(_ work: EndingPlan.Work, endingWithin limit: Duration) {
        begin(work)
        guard signal == nil else { return }
        let seconds = UInt32(clamping: limit.components.seconds + 6)
        signals.setAlarm(seconds, (work == .code ? ExitCode.outcomeUnknown : .temporary).rawValue)
    }

    /// Makes a change that a signal must not interrupt; see ``checkSignal()``.
    package func completing<Result>(_ change: () throws -> Result) rethrows -> Result {
        begin(.change)
        defer { begin(.nothing) }
        return try change()
    }

    /// Ends a command between two changes.
    ///
    /// - Throws: ``Interruption`` if a signal has arrived.
    package func checkSignal() throws(Interruption) {
        if let signal { throw Interruption(betweenChangesBy: signal) }
    }

    /// The remaining time for the work; nil if no signal has arrived.
    var remaining: Duration? {
        let now = timekeeper.elapsed()
        return plan.withLock { plan in
            if signal != nil { plan.receiveSignal(at: now) }
            return plan.remaining(at: now)
        }
    }

    /// The time for the work that remains even after `--timeout`.
    var reserved: Duration {
        let now = timekeeper.elapsed()
        return plan.withLock { $0.reserved(at: now) }
    }

    /// Runs `operation`, and cancels it when the work's time after a signal has expired.
    func bounding<Result: Sendable>(
        _ operation: @escaping @Sendable () async -> Result
    ) async -> Result? {
        await Self.run(operation) {
            await self.signals.arrival.wait(after: 0)
            guard !Task.isCancelled, let remaining = self.remaining else { return }
            try? await self.timekeeper.sleep(remaining)
        }
    }

    /// Waits; a signal ends the wait.
    ///
    /// - Throws: `CancellationError` if a signal arrives.
    func sleep(_ duration: Duration) async throws {
        let timekeeper = timekeeper
        let isDone = await Self.run({ (try? await timekeeper.sleep(duration)) != nil }) {
            await self.signals.arrival.wait(after: 0)
        }
        guard isDone == true, signal == nil else { throw CancellationError() }
    }

    /// Runs `operation`, and cancels it when `limit` returns first.
    private static func run<Result: Sendable>(
        _ operation: @escaping @Sendable () async -> Result,
        until limit: @escaping @Sendable () async -> Void
    ) async -> Result? {
        await withTaskGroup(of: Result?.self) { group in
            group.addTask { await operation() }
            group.addTask {
                await limit()
                return nil
            }
            var result: Result?
            for await next in group {
                result = next ?? result
                group.cancelAll()
            }
            return result
        }
    }
}

/// Cancels a request when its time after a signal has expired.
struct BoundedTransport: Transport {
    let base: any Transport
    let ending: Ending

    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let result = await ending.bounding {
            [base] () async -> Result<HTTPResponse, TransportError> in
            do throws(TransportError) {
                return .success(try await base.send(request, timeout: timeout))
            } catch {
                return .failure(error)
            }
        }
        guard let result else {
            throw TransportError(.cancelled, "the request was given up", requestMayHaveLeft: true)
        }
        return try result.get()
    }
}
