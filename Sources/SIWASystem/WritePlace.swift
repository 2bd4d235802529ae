internal import Glibc

/// What is at a path that a user named, for writing. Nothing is opened, so that a pipe without a
/// reader does not block.
enum WritePlace {
    /// A regular file of this user's, or none: its path, which is not a symbolic link.
    case file(String, exists: Bool)
    /// An open stream, such as `/dev/stdout`.
    case descriptor(CInt)
    /// A device or a pipe, and its status.
    case special(String, stat)

    /// Follows the path, except symbolic links of other users.
    ///
    /// - Throws: ``FileError``, also if a file or a pipe belongs to another user, who could read
    ///   the result.
    init(_ path: String) throws(FileError) {
        var target = path
        for _ in 0..<40 {
            switch try Self.step(from: target, named: path) {
            case .place(let found):
                self = found
                return
            case .link(let next): target = next
            }
        }
        throw FileError("write", path, code: ELOOP)
    }

    private enum Step {
        case place(WritePlace)
        case link(String)
    }

    private static func step(from target: String, named path: String) throws(FileError) -> Step {
        if let descriptor = openDescriptor(named: target) { return .place(.descriptor(descriptor)) }
        let place = open(target, openPathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else {
            guard errno == ENOENT else { throw FileError("write", path) }
            return .place(.file(target, exists: false))
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
            return .place(.file(target, exists: true))
        case S_IFIFO where !status.isOwn && status.st_uid != 0:
            throw .foreign("pipe", status, path)
        case S_IFIFO, S_IFCHR: return .place(.special(target, status))
        default: throw .notRegular("write", path)
        }
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

/// The descriptor of an open stream that is named as `/dev/stdin`, `/dev/stdout`, `/dev/stderr`,
/// `/dev/fd/N` or `/proc/self/fd/N`; nil for any other path.
func openDescriptor(named path: String) -> CInt? {
    // Not a dictionary, because creating one takes longer than reading a file.
    let names = ["/dev/stdin", "/dev/stdout", "/dev/stderr"]
    let prefix = ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix)
    guard
        let number = names.firstIndex(of: path)
            ?? prefix.flatMap({ Int(path.dropFirst($0.count)) }),
        let descriptor = CInt(exactly: number), descriptor >= 0
    else { return nil }
    return descriptor
}
