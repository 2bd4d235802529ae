internal import Glibc

/// The destination of a result, by the path that a user named.
enum WriteTarget {
    /// A regular file of this user's, or a new one: its path, which is not a symbolic link.
    case file(String, exists: Bool)
    /// A device, a pipe or an open stream, which is written directly. The caller closes it.
    case stream(CInt)

    /// Follows the path, and opens a stream.
    ///
    /// - Throws: ``FileError``, as ``WritePlace``.
    init(_ path: String) throws(FileError) {
        for _ in 0..<40 {
            switch try WritePlace(path) {
            case .file(let target, let exists):
                self = .file(target, exists: exists)
                return
            case .descriptor(let descriptor):
                self = .stream(try duplicate(of: descriptor, "write", path))
                return
            case .special(let target, let seen):
                guard let descriptor = try Self.opened(target, seen, named: path) else { continue }
                self = .stream(descriptor)
                return
            }
        }
        throw FileError("write", path, code: ELOOP)
    }

    /// Nil if something else is there in the meantime.
    private static func opened(
        _ target: String, _ seen: stat, named path: String
    ) throws(FileError) -> CInt? {
        let descriptor = try system("write", path) {
            open(target, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_dev == seen.st_dev,
            status.st_ino == seen.st_ino
        else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

private func duplicate(
    of descriptor: CInt, _ operation: String, _ path: String
) throws(FileError) -> CInt {
    try system(operation, path) { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
}

/// Opens a file, or the stream that its path denotes: to open the path of a stream would fail on a
/// socket.
func openForReading(_ path: String) throws(FileError) -> CInt {
    if let stream = openDescriptor(named: path) { return try duplicate(of: stream, "read", path) }
    return try system("read", path) { open(path, O_RDONLY | O_CLOEXEC) }
}

/// The path up to and including its last slash; empty if it has none.
package func folderPrefix(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
}
