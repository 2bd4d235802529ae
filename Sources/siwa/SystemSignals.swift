internal import SIWAApplication
internal import SIWALifecycle
internal import SIWASystem

extension World.Signals {
    /// The process's signals, for commands.
    ///
    /// - Parameter arrival: notified when a signal arrives.
    static func ofProcess(_ arrival: WakeSignal) -> Self {
        Self(
            received: { ProcessSignals.received },
            apply: { policy, watchdog, code in
                ProcessSignals.apply(policy, watchdog: watchdog, code: code)
            },
            setAlarm: { seconds, exitCode in
                ProcessSignals.setAlarm(after: seconds, exitCode: exitCode)
            },
            arrival: arrival)
    }
}
