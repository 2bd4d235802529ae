internal import Glibc

/// An operation on a file failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation, as a verb: `read`, `write`, `create`.
    package let operation: String
    /// The file, as it was named.
    package let path: String
    /// The system's error number; 0 if this program refused.
    package let code: CInt
    /// Why, in words.
    package let reason: String
    /// What to do, if it does not follow from the other members.
    package let remedy: String?

    /// Takes the reason from the system's error number.
    init(_ operation: String, _ path: String, code: CInt = errno) {
        self.operation = operation
        self.path = path
        self.code = code
        reason = String(cString: strerror(code)).lowercased()
        remedy = systemLimitRemedy(code) ?? ownershipRemedy(code, path)
    }

    /// Creates an error with a reason of this program.
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
    /// Whether a permission is missing; replacing a file requires the permission of its folder.
    package var isDenied: Bool { code == EACCES || code == EPERM || code == EROFS }

    /// Whether a deadline was over.
    package var isLate: Bool { code == ETIMEDOUT }

    /// Whether the path exists already.
    package var isTaken: Bool { code == EEXIST }

    /// Whether the folder must be empty and is not.
    package var isNotEmpty: Bool { code == ENOTEMPTY }

    /// Whether it has unexpected content.
    package var holdsSomethingElse: Bool { code == EBADMSG }

    /// Whether it is larger than the limit.
    package var isTooLarge: Bool { code == EFBIG }

    /// Whether the reader of a pipe or a socket has closed it.
    package var isClosedPipe: Bool { code == EPIPE || code == ECONNRESET }

    /// Whether the result could not be written: the disk is full or broken, a file size limit is
    /// reached, or the stream is closed.
    package var isLostOutput: Bool {
        operation == "write" && [ENOSPC, EDQUOT, EIO, EFBIG, EBADF].contains(code)
    }

    /// Whether repeating the call later can help: the disk is full or broken.
    package var isTemporary: Bool {
        [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM, EAGAIN].contains(code)
    }

    /// Whether the disk is full; a limit of this process or system is not.
    package var isFullDisk: Bool { [ENOSPC, EDQUOT, EIO].contains(code) }

    /// `cannot read 'key.p8': permission denied`.
    package var description: String { "cannot \(operation) '\(path)': \(reason)" }
}

/// Calls a system function that returns -1 and sets errno; repeats the call if a signal interrupted
/// it.
func system<Value: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> Value
) throws(FileError) -> Value {
    while true {
        let result = call()
        if result != -1 { return result }
        guard errno == EINTR else { throw FileError(operation, path) }
    }
}

/// Like ``system(_:_:_:)``, for a stream that another process may have made non-blocking.
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
