internal import Lifecycle
internal import LocalFiles
internal import SIWACLI

extension World.Signals {
    /// The process's signals, as commands see them.
    ///
    /// - Parameter arrival: notified when a signal came.
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
