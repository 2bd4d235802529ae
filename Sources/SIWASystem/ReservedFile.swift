internal import Glibc

/// A file whose space is reserved, so that it can be written while the disk is full. It is locked
/// until it is released.
package struct ReservedFile: Sendable {
    /// The contents, without the reserved rest.
    package let contents: @Sendable () throws(FileError) -> [UInt8]
    /// Replaces the contents, and waits until they are on disk. They contain no NUL.
    package let replace: @Sendable ([UInt8]) throws(FileError) -> Void
    /// Whether its path still names it: it was not removed, moved or replaced.
    package let isInPlace: @Sendable () -> Bool
    /// Closes the file, and releases the lock; must be called at most once.
    package let release: @Sendable () -> Void
}

/// Opens or creates a file with `size` reserved bytes, which only this user may read. Returns nil if
/// another process holds it.
package func reserveFile(_ path: String, _ size: Int) throws(FileError) -> ReservedFile? {
    try requireOwnFolder("create", path)
    let descriptor = try system("open", path) {
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    }
    do throws(FileError) {
        guard try prepare(descriptor, path, size) else {
            close(descriptor)
            return nil
        }
    } catch {
        close(descriptor)
        throw error
    }
    return ReservedFile(
        contents: { () throws(FileError) in try readContents(descriptor, path) },
        replace: { bytes throws(FileError) in
            let rest = [UInt8](repeating: 0, count: max(0, size - bytes.count))
            try write(bytes + rest, to: descriptor, path)
        },
        isInPlace: {
            var status = stat()
            return fstat(descriptor, &status) == 0 && fileIdentity(path) == FileIdentity(status)
        },
        release: { close(descriptor) })
}

/// Fails as ``reserveFile(_:_:)`` would, as far as that can be known without creating or locking the
/// file.
package func checkReservation(_ path: String, _ size: Int) throws(FileError) {
    try requireOwnFolder("create", path)
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
        guard errno == ENOENT else { throw FileError("open", path) }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        _ = try system("open", path) { access(folder, W_OK | X_OK) }
        guard freeSpace(folder).map({ $0 >= size }) ?? true else {
            throw FileError("reserve space for", path, code: ENOSPC)
        }
        return
    }
    defer { close(descriptor) }
    try requireOwnFile(descriptor, path)
}

private func requireOwnFile(_ descriptor: CInt, _ path: String) throws(FileError) {
    var status = stat()
    _ = try system("examine", path) { fstat(descriptor, &status) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
        throw FileError("use", path, reason: "it is not a regular file of this user")
    }
}

/// Locks the file, and reserves its space; false if another process holds it.
private func prepare(
    _ descriptor: CInt, _ path: String, _ size: Int
) throws(FileError) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        guard errno == EWOULDBLOCK else { throw FileError("lock", path) }
        return false
    }
    try requireOwnFile(descriptor, path)
    _ = try system("protect", path) { fchmod(descriptor, 0o600) }
    let code = posix_fallocate(descriptor, 0, off_t(size))
    guard code == 0 else { throw FileError("reserve space for", path, code: code) }
    return true
}

private func readContents(_ descriptor: CInt, _ path: String) throws(FileError) -> [UInt8] {
    var status = stat()
    _ = try system("read", path) { fstat(descriptor, &status) }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), 64 << 20))
    var count = 0
    while count < bytes.count {
        let got = try system("read", path) {
            bytes[count...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(count))
            }
        }
        guard got > 0 else { break }
        count += got
    }
    return Array(bytes.prefix(count).prefix { $0 != 0 })
}

private func write(
    _ bytes: [UInt8], to descriptor: CInt, _ path: String
) throws(FileError) {
    var place = 0
    while place < bytes.count {
        place += try system("write", path) {
            bytes[place...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(place))
            }
        }
    }
    _ = try system("write", path) { ftruncate(descriptor, off_t(bytes.count)) }
    _ = try system("write", path) { fsync(descriptor) }
}

/// The number of bytes that this user may still write in the file system of a path; nil if that is
/// unknown, or if the file system is read-only: more room would not help.
package func freeSpace(_ path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0, status.f_flag & UInt(ST_RDONLY) == 0 else { return nil }
    let (bytes, isTooLarge) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
        by: Int(clamping: status.f_frsize))
    return isTooLarge ? .max : bytes
}
