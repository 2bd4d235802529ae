internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Standard output for the result, standard error for everything else, and the signals.
struct Console: Sendable {
    /// Notified when a signal asks the server to end.
    let stop: WakeSignal

    /// Writes to standard output without buffering.
    func print(_ text: String) throws(FileError) {
        try writeAll(SecretBytes(text.utf8), to: 1, named: "standard output")
    }

    /// Writes a line to standard error. A failure to write it cannot be reported.
    func note(_ line: String) {
        try? writeAll(SecretBytes((line + "\n").utf8), to: 2, named: "standard error")
    }

    /// Prints a warning.
    func warn(_ message: String) { note("siwa-emulator: warning: \(message)") }
}
