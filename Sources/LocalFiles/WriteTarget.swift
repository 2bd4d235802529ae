internal import Glibc

/// The destination of a result, by the path that a user named.
enum WriteTarget {
    /// A regular file of this user's, or a new one: its path, which is not a symbolic link.
    case file(String, exists: Bool)
    /// A device, a pipe or an open stream, which is written directly. The caller closes it.
    case stream(CInt)

    /// Follows the path, except symbolic links of other users.
    ///
    /// - Throws: ``FileError``, also if a file or a pipe belongs to another user, who could read
    ///   the result.
    init(_ path: String) throws(FileError) {
        var target = path
        for _ in 0..<40 {
            switch try Self.step(from: target, named: path) {
            case .target(let found):
                self = found
                return
            case .link(let next): target = next
            case .changed: continue
            }
        }
        throw FileError("write", path, code: ELOOP)
    }

    private enum Step {
        case target(WriteTarget)
        case link(String)
        /// The file was replaced in the meantime.
        case changed
    }

    private static func step(from target: String, named path: String) throws(FileError) -> Step {
        if let open = try duplicateOfDescriptor(named: target, for: "write") {
            return .target(.stream(open))
        }
        let place = open(target, openPathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else {
            guard errno == ENOENT else { throw FileError("write", path) }
            return .target(.file(target, exists: false))
        }
        defer { close(place) }
        var status = stat()
        _ = try system("write", path) { fstat(place, &status) }
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
            guard status.isOwn || status.st_uid == 0 else { throw .foreign("link", status, path) }
            return .link(try destination(ofLink: place, at: target, named: path))
        case S_IFREG:
            guard status.isOwn else { throw .foreign("file", status, path) }
            return .target(.file(target, exists: true))
        case S_IFIFO where !status.isOwn && status.st_uid != 0:
            throw .foreign("pipe", status, path)
        case S_IFIFO, S_IFCHR: return try stream(target, status, named: path)
        default: throw FileError("write", path, reason: "it is not a regular file")
        }
    }

    private static func stream(
        _ target: String, _ seen: stat, named path: String
    ) throws(FileError) -> Step {
        let descriptor = try system("write", path) {
            open(target, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_dev == seen.st_dev,
            status.st_ino == seen.st_ino
        else {
            close(descriptor)
            return .changed
        }
        return .target(.stream(descriptor))
    }

    private static func destination(
        ofLink descriptor: CInt, at target: String, named path: String
    ) throws(FileError) -> String {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try system("write", path) { readlinkat(descriptor, "", &text, text.count) }
        let next = String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return next.hasPrefix("/") ? next : folderPrefix(of: target) + next
    }
}

/// Linux's `O_PATH`, which glibc's module does not export: opens a path without accessing its
/// contents.
private let openPathOnly: CInt = 0o10_000_000

extension stat {
    /// Whether the file belongs to the user of this process.
    var isOwn: Bool { st_uid == geteuid() }
}

extension FileError {
    static func foreign(_ kind: String, _ status: stat, _ path: String) -> FileError {
        FileError(
            "write", path, reason: "the \(kind) belongs to another user (uid \(status.st_uid))",
            code: EPERM)
    }
}

/// A duplicate of the descriptor of an open stream that is named as `/dev/stdin`, `/dev/stdout`,
/// `/dev/stderr`, `/dev/fd/N` or `/proc/self/fd/N`; nil for any other path. To open such a path
/// would fail on a socket, and truncate a file.
func duplicateOfDescriptor(
    named path: String, for operation: String
) throws(FileError) -> CInt? {
    // Not a dictionary, because creating one takes longer than reading a file.
    let names = ["/dev/stdin", "/dev/stdout", "/dev/stderr"]
    let prefix = ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix)
    guard
        let number = names.firstIndex(of: path)
            ?? prefix.flatMap({ Int(path.dropFirst($0.count)) }),
        let descriptor = CInt(exactly: number), descriptor >= 0
    else { return nil }
    return try system(operation, path) { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
}

/// Opens a file, or the stream that its path denotes.
func openForReading(_ path: String) throws(FileError) -> CInt {
    if let open = try duplicateOfDescriptor(named: path, for: "read") { return open }
    return try system("read", path) { open(path, O_RDONLY | O_CLOEXEC) }
}

/// The path up to and including its last slash; empty if it has none.
func folderPrefix(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
}
