internal import Glibc
internal import SIWACrypto

/// A file that will replace another one, with a temporary name until it is complete.
struct TemporaryFile {
    let path: String
    let descriptor: CInt

    /// Creates a file beside `target`, locked, so that other processes know that it is in use.
    init(for target: String, named path: String) throws(FileError) {
        var template = Array((target + Self.mark + "XXXXXX").utf8CString)
        descriptor = try system("write", path) { mkstemp(&template) }
        self.path = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Writes all of the contents to the disk.
    func complete(
        _ contents: SecretBytes, named path: String, permissions: UInt32
    ) throws(FileError) {
        _ = try system("write", path) { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = try system("write", path) { fchmod(descriptor, permissions) }
        try writeAll(contents, to: descriptor, named: path)
        _ = try system("write", path) { fsync(descriptor) }
    }

    /// Closes the file, and removes its temporary name if the name is still this file's.
    func end() {
        var (own, named) = (stat(), stat())
        if fstat(descriptor, &own) == 0, lstat(path, &named) == 0, own.st_dev == named.st_dev,
            own.st_ino == named.st_ino
        {
            unlink(path)
        }
        close(descriptor)
    }

    private static let mark = ".siwa-"

    /// Removes the files that killed processes of this user left beside `target`: those that are
    /// not locked and older than a minute, because a file is locked after it is created.
    static func removeStale(beside target: String) {
        let folder = folderPrefix(of: target)
        let prefix = target.dropFirst(folder.count) + mark
        for name in namesInFolder(folder.isEmpty ? "." : folder)
        where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
            removeIfStale(folder + name)
        }
    }

    private static func removeIfStale(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.isOwn,
            status.st_mtim.tv_sec < time(nil) - 60, flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { return }
        unlink(path)
    }
}
