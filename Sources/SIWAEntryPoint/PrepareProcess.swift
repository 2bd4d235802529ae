internal import Glibc
internal import SIWACProcess
internal import SIWASystem

/// Prepares the process; must be called first. Disables core dumps, which would contain secrets,
/// keeps closed standard streams unusable, and makes failed writes errors.
///
/// - Returns: the arguments of the C entry point without the program's name; nil if one is not
///   UTF-8, because Swift would silently change a path or a token. Swift's own `CommandLine` reads
///   `/proc/self/cmdline`, which is not mounted everywhere.
package func prepareProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> [String]? {
    forbidCoreDumps()
    occupyClosedStreams()
    reportWriteErrors()
    silenceDispatch()
    return commandLineArguments(count, arguments)
}

/// Has all threads allocate from one heap. glibc gives each its own, which grows page by page: a
/// single request would have 22 page faults more. Threads that have much to do would wait for each
/// other.
package func shareHeap() { siwa_share_heap() }

/// Disables libdispatch's messages to syslog that its threads cannot have a higher priority.
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

/// Disables core dumps, which would write secrets to files.
private func forbidCoreDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = siwa_forbid_dumps()
}

/// Replaces closed standard streams by descriptors that cannot be used. Otherwise the next file or
/// connection would get the number of the stream, and receive its output.
private func occupyClosedStreams() {
    for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
        // The lowest free number is that of this stream. It is opened in the wrong direction, so
        // that every use fails.
        _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}
