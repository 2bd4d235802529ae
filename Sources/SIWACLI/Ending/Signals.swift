package import Lifecycle
package import LocalFiles

extension World {
    /// A signal for a long run to wait for, which also wakes it when the process is asked to end.
    func wakeSignal() -> WakeSignal {
        let wake = WakeSignal()
        signals.arrival.addListener { wake.notify() }
        return wake
    }

    /// The signals that ask the process to end.
    package struct Signals: Sendable {
        /// The first one that was recorded; nil if there was none.
        package var received: @Sendable () -> CInt?
        /// Sets what signals do from now on, after how many seconds the process ends whatever it
        /// does, once a signal was recorded, and what is said of a code then.
        package var apply: @Sendable (SignalPolicy, UInt32, SpentCode) -> Void
        /// Ends the process after so many seconds with this exit code, even if it hangs.
        package var setAlarm: @Sendable (UInt32, CInt) -> Void
        /// Notified when a signal is recorded.
        package var arrival: WakeSignal

        /// Composes the signals of a process.
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

        /// No signal ever comes.
        package static let none = Self(
            received: { nil }, apply: { _, _, _ in }, setAlarm: { _, _ in }, arrival: WakeSignal())
    }
}
