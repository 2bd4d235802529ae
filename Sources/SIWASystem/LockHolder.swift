internal import Glibc

/// The identity of a file, which another file in its place does not have; nil if there is none.
package func fileIdentity(_ path: String) -> FileIdentity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
}

/// See ``fileIdentity(_:)``.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
}

/// The id of another process that holds a lock (fcntl(2)) of a file's bytes; nil if none does, or if
/// the file cannot be opened. The id is 0 or -1 if the process is in another container.
///
/// This process must hold no lock of the file: it would be released.
package func lockHolder(_ path: String, from first: Int, count: Int) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    (region.l_start, region.l_len) = (first, count)
    guard unsafe fcntl(descriptor, F_GETLK, &region) == 0 else { return nil }
    return region.l_type == Int16(F_UNLCK) ? nil : region.l_pid
}
