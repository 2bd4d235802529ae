internal import Glibc
internal import SIWACProcess
internal import SIWACrypto

/// The wall clock: whole seconds since 1970-01-01T00:00:00Z.
package func secondsSinceEpoch() -> Int { time(nil) }

/// An environment variable; nil if it is not set.
///
/// Read on demand, because a start needs few variables. None is set after `prepareProcess`,
/// so that threads can read them safely.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

/// Whether the user of this process is root.
package func isRoot() -> Bool { geteuid() == 0 }

/// The number of processors that this process may use.
package func usableProcessorCount() -> Int {
    let count = Int(siwa_usable_processors())
    return count > 0 ? count : processorCount()
}

/// The id of this process.
package func processID() -> Int { Int(getpid()) }

/// The number of processors of the machine.
package func processorCount() -> Int { max(sysconf(CInt(_SC_NPROCESSORS_ONLN)), 1) }

/// Makes a closed pipe and an exceeded file size limit errors of `write`, instead of signals that
/// end the process.
package func reportWriteErrors() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}

/// Whether a standard stream is a terminal.
package func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

/// The number of columns of a standard stream's terminal; nil if it is not a terminal.
package func terminalWidth(_ descriptor: CInt) -> Int? {
    guard isTerminal(descriptor) else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
}

/// Shows a question on standard error, and reads the answer: a line of standard input.
///
/// - Throws: ``FileError`` if standard input cannot be read.
package func askTerminal(_ question: String) throws(FileError) -> String {
    try writeAll(SecretBytes(question.utf8), to: STDERR_FILENO, named: "standard error")
    return String(decoding: try readStandardInputLine().revealed(), as: UTF8.self)
}

/// Shows a line on standard error in place of the previous one; an empty line clears it.
package func showProgress(_ line: String) {
    let bytes = Array("\r\u{1B}[K\(line)".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
