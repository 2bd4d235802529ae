internal import Synchronization

/// Makes the signals that end the process wait while files are written.
///
/// Blocking them in the writing thread is not enough: the kernel gives a signal to any
/// thread that does not block it, and the program has several.
final class SignalGate: Sendable {
    /// How many files are being written, and above bit 31 the signal that waits.
    private let state = Atomic<Int>(0)

    /// A signal came; true when the process may end at once. Safe inside a handler.
    func admits(_ signal: CInt) -> Bool {
        state.bitwiseOr(Int(signal) << 32, ordering: .sequentiallyConsistent).oldValue & 0xFFFF_FFFF
            == 0
    }

    /// A file begins to be written.
    func close() { state.add(1, ordering: .sequentiallyConsistent) }

    /// A file is written; the signal that waited for the last of them.
    func open() -> CInt? {
        let left = state.subtract(1, ordering: .sequentiallyConsistent).newValue
        let signal = CInt(truncatingIfNeeded: left >> 32)
        return left & 0xFFFF_FFFF == 0 && signal != 0 ? signal : nil
    }
}

/// The process's own.
let signalGate = SignalGate()
