internal import Lifecycle
internal import LocalFiles
internal import Synchronization

/// Ends a command in time after a signal: the one place that tells the process's signals what a
/// command is doing, and that cuts the command's waits short.
final class Ending: Sendable {
    private let signals: World.Signals
    private let timekeeper: Timekeeper
    private let plan = Mutex(EndingPlan())

    init(_ signals: World.Signals, _ timekeeper: Timekeeper) {
        (self.signals, self.timekeeper) = (signals, timekeeper)
    }

    /// The termination signal received, if any.
    var signal: CInt? { signals.received() }

    /// The command begins `work`.
    ///
    /// - Parameter code: what became of a code; nil if `work` tells it.
    func begin(_ work: EndingPlan.Work, _ code: SpentCode? = nil) {
        let now = timekeeper.elapsed()
        let watchdog = plan.withLock { plan in
            if signal != nil { plan.receiveSignal(at: now) }
            plan.begin(work, at: now)
            return plan.watchdog(at: now)
        }
        signals.apply(work.policy, watchdog, code ?? work.spentCode)
    }

    /// The command begins `work`, which ends by itself within `limit` unless something hangs that
    /// cannot be interrupted: then the process ends a little later.
    func begin(_ work: EndingPlan.Work, endingWithin limit: Duration) {
        begin(work)
        guard signal == nil else { return }
        let seconds = UInt32(clamping: limit.components.seconds + 6)
        signals.setAlarm(seconds, (work == .code ? ExitCode.outcomeUnknown : .temporary).rawValue)
    }

    /// Makes a change that a signal may not cut short; see ``checkSignal()``.
    func completing<Result>(_ change: () throws -> Result) rethrows -> Result {
        begin(.change)
        defer { begin(.nothing) }
        return try change()
    }

    /// Ends a command between two changes.
    ///
    /// - Throws: ``Interruption`` if a signal came.
    func checkSignal() throws(Interruption) {
        if let signal { throw Interruption(betweenChangesBy: signal) }
    }

    /// How long the work may still take; nil while no signal has come.
    var remaining: Duration? {
        let now = timekeeper.elapsed()
        return plan.withLock { plan in
            if signal != nil { plan.receiveSignal(at: now) }
            return plan.remaining(at: now)
        }
    }

    /// Runs `operation`, and cancels it when a signal came and the work's time is over.
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
    /// - Throws: `CancellationError` when a signal came.
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

/// Gives a request up when a signal came and its time is over.
struct BoundedTransport<Base: Transport>: Transport {
    let base: Base
    let ending: Ending

    func send(
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
