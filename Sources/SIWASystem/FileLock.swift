internal import Glibc

/// A lock of a file that one process can hold. The kernel releases it when the process ends.
package struct FileLock: Sendable {
    /// Releases the lock; must be called once.
    package let release: @Sendable () -> Void

    /// Creates a lock, for tests.
    package init(release: @escaping @Sendable () -> Void) { self.release = release }
}

/// Takes the lock of the file at `path`, which is created if it is missing and is never removed.
/// Returns nil immediately if another process holds the lock.
///
/// - Throws: ``FileError`` if files cannot be locked here; see also ``requireOwnFolder(_:_:)``.
package func tryLock(_ path: String) throws(FileError) -> FileLock? {
    try requireOwnFolder("lock", path)
    let descriptor = try system("lock", path) {
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let error = FileError("lock", path)
        close(descriptor)
        guard error.code == EWOULDBLOCK else { throw error }
        return nil
    }
    return FileLock { close(descriptor) }
}

/// Takes the lock of a file that exists, which the process must keep until it ends: closing the
/// descriptor would release other locks of this process on the same file. Returns nil immediately if
/// another process holds the lock, also through another name of the file.
package func lockUntilExit(_ path: String) throws(FileError) -> FileLock? {
    let descriptor = try system("lock", path) {
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let error = FileError("lock", path)
        close(descriptor)
        guard error.code == EWOULDBLOCK else { throw error }
        return nil
    }
    return FileLock {}
}
