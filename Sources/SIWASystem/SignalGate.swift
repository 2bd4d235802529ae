internal import Synchronization

/// Delays the signals that end the process while files are written.
///
/// Blocking them in the writing thread is not enough: the kernel delivers a signal to any thread
/// that does not block it.
final class SignalGate: Sendable {
    /// The number of files being written, and above bit 31 the delayed signal.
    private let state = Atomic<Int>(0)

    /// Receives a signal; true if the process may end now. Safe in a signal handler.
    func admits(_ signal: CInt) -> Bool {
        state.bitwiseOr(Int(signal) << 32, ordering: .sequentiallyConsistent).oldValue & 0xFFFF_FFFF
            == 0
    }

    /// Called before a file is written.
    func close() { state.add(1, ordering: .sequentiallyConsistent) }

    /// Called after a file was written; returns the delayed signal, if it was the last file.
    func open() -> CInt? {
        let left = state.subtract(1, ordering: .sequentiallyConsistent).newValue
        let signal = CInt(truncatingIfNeeded: left >> 32)
        return left & 0xFFFF_FFFF == 0 && signal != 0 ? signal : nil
    }
}

/// The gate of this process.
let signalGate = SignalGate()
