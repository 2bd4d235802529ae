internal import Glibc

/// A lock of a file's bytes (fcntl(2)).
package enum RegionLock: Sendable {
    case shared, exclusive
}

/// The lock that another process holds of a file's bytes; nil if none does, or if the file cannot be
/// opened.
///
/// This process must hold no lock of the file: it would be released.
package func lockOfOthers(_ path: String, from first: Int, count: Int) -> RegionLock? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    (region.l_start, region.l_len) = (first, count)
    guard unsafe fcntl(descriptor, F_GETLK, &region) == 0 else { return nil }
    switch CInt(region.l_type) {
    case F_UNLCK: return nil
    case F_RDLCK: return .shared
    default: return .exclusive
    }
}
