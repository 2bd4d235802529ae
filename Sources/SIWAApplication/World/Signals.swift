package import SIWALifecycle
package import SIWASystem

extension World {
    /// A wake-up signal for a long run that is also notified when the process is asked to end.
    package func wakeSignal() -> WakeSignal {
        let wake = WakeSignal()
        signals.arrival.addListener { wake.notify() }
        return wake
    }

    /// The signals that ask the process to end.
    package struct Signals: Sendable {
        /// The first one that was recorded; nil if there was none.
        var received: @Sendable () -> CInt?
        /// Sets the effect of signals, the number of seconds after a recorded signal at which the
        /// process is ended, and the state of a code that is then reported.
        var apply: @Sendable (SignalPolicy, UInt32, SpentCode) -> Void
        /// Ends the process after this many seconds with this exit code, even if it hangs.
        var setAlarm: @Sendable (UInt32, CInt) -> Void
        /// Notified when a signal is recorded.
        var arrival: WakeSignal

        /// Creates signals.
        package init(
            received: @escaping @Sendable () -> CInt?,
            apply: @escaping @Sendable (SignalPolicy, UInt32, SpentCode) -> Void,
            setAlarm: @escaping @Sendable (UInt32, CInt) -> Void, arrival: WakeSignal
        ) {
            self.received = received
            self.apply = apply
            self.setAlarm = setAlarm
            self.arrival = arrival
        }

        /// Signals that never arrive.
        package static let none = Self(
            received: { nil }, apply: { _, _, _ in }, setAlarm: { _, _ in }, arrival: WakeSignal())
    }
}
