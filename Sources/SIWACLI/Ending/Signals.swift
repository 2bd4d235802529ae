public import LocalFiles
internal import Synchronization

extension World {
    /// The signals that ask the process to end.
    public struct Signals: Sendable {
        /// The first one that was recorded; nil if none was.
        public var received: @Sendable () -> CInt?
        /// Sets what signals do from now on, and after how many seconds the process ends whatever it
        /// does, once a signal was recorded.
        public var apply: @Sendable (SignalPolicy, UInt32) -> Void
        /// Ends the process after so many seconds with this exit code, whatever it does.
        public var setAlarm: @Sendable (UInt32, CInt) -> Void
        /// Rings when a signal is recorded.
        public var bell: SignalBell

        /// Composes the signals of a process.
        public init(
            received: @escaping @Sendable () -> CInt?,
            apply: @escaping @Sendable (SignalPolicy, UInt32) -> Void,
            setAlarm: @escaping @Sendable (UInt32, CInt) -> Void, bell: SignalBell
        ) {
            self.received = received
            self.apply = apply
            self.setAlarm = setAlarm
            self.bell = bell
        }

        /// No signal ever comes.
        public static let none = Self(
            received: { nil }, apply: { _, _ in }, setAlarm: { _, _ in }, bell: SignalBell())
    }
}

/// Lets tasks wait for a signal. Once it has rung, nobody waits.
public final class SignalBell: Sendable {
    private let state = Mutex<State>(State())

    private struct State {
        var hasRung = false
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    /// A bell that has not rung.
    public init() {}

    /// Ends every wait, now and from now on.
    public func ring() {
        let waiters = state.withLock { state in
            state.hasRung = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until it rings, or until the task is cancelled.
    func wait() async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    guard !state.hasRung, !Task.isCancelled else { return true }
                    state.waiters[number] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}
