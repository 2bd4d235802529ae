internal import Glibc

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
