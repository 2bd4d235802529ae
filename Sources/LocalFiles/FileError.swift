internal import Glibc

/// The system refused something about a file.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as a verb: `read`, `write`, `create`.
    package let operation: String
    /// The file, as it was named.
    package let path: String
    /// The system's error number; 0 if this program refused.
    package let code: CInt
    /// Why, in words.
    package let reason: String
    /// What to do, where it does not follow from the other members.
    package let remedy: String?

    /// Takes the reason from the system's error number.
    init(_ operation: String, _ path: String, code: CInt = errno) {
        self.operation = operation
        self.path = path
        self.code = code
        reason = String(cString: strerror(code)).lowercased()
        remedy = nil
    }

    /// Gives a reason of this program's own.
    package init(
        _ operation: String, _ path: String, reason: String, code: CInt = 0, remedy: String? = nil
    ) {
        self.operation = operation
        self.path = path
        self.code = code
        self.reason = reason
        self.remedy = remedy
    }

    /// Whether there is no such file.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    /// Whether this user may not: of a file that is replaced, its folder has to permit that.
    package var isDenied: Bool { code == EACCES || code == EPERM || code == EROFS }

    /// Whether the path exists already.
    package var isTaken: Bool { code == EEXIST }

    /// Whether it holds something where it must be empty.
    package var isNotEmpty: Bool { code == ENOTEMPTY }

    /// Whether it holds something else than it should.
    package var holdsSomethingElse: Bool { code == EBADMSG }

    /// Whether it holds more than was asked for.
    package var isTooLarge: Bool { code == EFBIG }

    /// Whether the reader at the other end of a pipe or a socket has gone.
    package var isClosedPipe: Bool { code == EPIPE || code == ECONNRESET }

    /// Whether a result was lost on its way out: the disk is full or broken, a limit of file sizes is
    /// reached, or the stream is closed.
    package var isLostOutput: Bool {
        operation == "write" && [ENOSPC, EDQUOT, EIO, EFBIG, EBADF].contains(code)
    }

    /// Whether trying again later can help: the disk is full or broken, not the call wrong.
    package var isTemporary: Bool {
        [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM, EAGAIN].contains(code)
    }

    /// `cannot read 'key.p8': permission denied`.
    package var description: String { "cannot \(operation) '\(path)': \(reason)" }
}

/// The one check of the system's "returns -1 and sets errno" convention,
/// repeated when a signal interrupted the call.
func system<Value: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> Value
) throws(FileError) -> Value {
    while true {
        let result = call()
        if result != -1 { return result }
        guard errno == EINTR else { throw FileError(operation, path) }
    }
}

/// As ``system(_:_:_:)``, on a stream: a process that shares it may have made it non-blocking.
func system<Value: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ path: String, on descriptor: CInt, until event: Int32,
    _ call: () -> Value
) throws(FileError) -> Value {
    while true {
        do throws(FileError) {
            return try system(operation, path, call)
        } catch {
            guard error.code == EAGAIN else { throw error }
            var readiness = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            _ = try system(operation, path) { poll(&readiness, 1, -1) }
        }
    }
}
