internal import CProcess
internal import Glibc
internal import SIWACrypto

/// The wall clock: whole seconds since 1970-01-01T00:00:00Z.
package func secondsSinceEpoch() -> Int { time(nil) }

/// Prepares the process: the first thing that a program does. No core dump will hold its secrets,
/// standard streams that are closed stay so, and what cannot be written is an error.
///
/// - Returns: the arguments of the C entry point without the program's name; nil when one is not
///   UTF-8, because Swift would quietly make another path or another token of it. Swift's own
///   `CommandLine` reads `/proc/self/cmdline`, which is not mounted everywhere.
package func prepareProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> [String]? {
    forbidCoreDumps()
    occupyClosedStreams()
    reportWriteErrors()
    silenceDispatch()
    return commandLineArguments(count, arguments)
}

/// Keeps libdispatch from telling syslog that each of its threads has the usual priority, because
/// only root may have a higher one.
private func silenceDispatch() { setenv("LIBDISPATCH_LOG", "NO", 0) }

private func commandLineArguments(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> [String]? {
    var texts: [String] = []
    for argument in UnsafeBufferPointer(start: arguments, count: Int(count)).dropFirst() {
        guard let argument, let text = String(validatingCString: argument) else { return nil }
        texts.append(text)
    }
    return texts
}

/// Keeps secrets in memory from core dumps, which are files that others may read.
private func forbidCoreDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = siwa_forbid_dumps()
}

/// A variable of the environment; nil when it is not set.
///
/// Looked up when asked for, because a start needs few. Nothing sets one after
/// ``prepareProcess(_:_:)``, so that no thread can be reading meanwhile.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

/// How many processors this process may use.
package func usableProcessorCount() -> Int {
    let count = Int(siwa_usable_processors())
    return count > 0 ? count : processorCount()
}

/// The id of this process.
package func processID() -> Int { Int(getpid()) }

/// How many processors there are.
package func processorCount() -> Int { max(sysconf(CInt(_SC_NPROCESSORS_ONLN)), 1) }

/// Makes a closed pipe and a limit of file sizes errors of `write` in place of a silent death.
package func reportWriteErrors() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}

/// Puts something that refuses every use where a standard stream was closed: else the next file
/// or connection to be opened would take its number, and get what is printed.
private func occupyClosedStreams() {
    for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
        // The lowest free number is this stream's. Opened the wrong way round, it is of no use.
        _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

/// Whether a standard stream is a terminal.
package func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

/// How many columns the terminal of a standard stream has; nil when it is not a terminal.
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

/// Shows a line on standard error in place of the last one shown so; an empty one clears it.
package func showProgress(_ line: String) {
    let bytes = Array("\r\u{1B}[K\(line)".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
