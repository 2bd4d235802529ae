internal import Glibc
public import SIWACrypto

/// Writes a file whole or not at all: to a temporary file in the same folder, synced,
/// then renamed over the old one. A symbolic link is followed, so that it stays one.
///
/// SIGINT and SIGTERM wait until it is done, so that no temporary file is left behind.
///
/// - Throws: ``FileError``; the old file is then as it was.
public func writeFile(
    _ contents: SecretBytes, to path: String, permissions: UInt32 = 0o600
) throws(FileError) {
    let target = resolvingLinks(path)
    var status = stat()
    if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        throw FileError("write", path, reason: "it is not a regular file")
    }
    try withSignalsHeld { () throws(FileError) in
        try write(contents, to: target, named: path, permissions: permissions)
    }
}

/// Makes a folder; its parent must exist.
///
/// - Throws: ``FileError`` also when something stands there already.
public func createDirectory(_ path: String, permissions: UInt32 = 0o700) throws(FileError) {
    _ = try system("create", path) { mkdir(path, permissions) }
}

private func write(
    _ contents: SecretBytes, to target: String, named path: String, permissions: UInt32
) throws(FileError) {
    var template = Array((target + ".XXXXXX").utf8CString)
    let descriptor = try system("write", path) { mkstemp(&template) }
    var isOpen = true
    do throws(FileError) {
        _ = try system("write", path) { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = try system("write", path) { fchmod(descriptor, permissions) }
        try writeAll(contents, to: descriptor, named: path)
        _ = try system("write", path) { fsync(descriptor) }
        isOpen = false
        _ = try system("write", path) { close(descriptor) }
        _ = try system("write", path) { rename(template, target) }
        syncFolder(of: target)
    } catch {
        if isOpen { close(descriptor) }
        unlink(template)
        throw error
    }
}

/// Writes every byte, however few the system takes at a time.
public func writeAll(
    _ contents: SecretBytes, to descriptor: CInt, named path: String
) throws(FileError) {
    var done = 0
    while done < contents.count {
        done += try system("write", path) {
            contents.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            }
        }
    }
}

/// Makes the rename itself outlive a power cut. Some file systems refuse to sync a
/// folder; the file is whole in any case, so that is no failure.
private func syncFolder(of path: String) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
}

private func resolvingLinks(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
}

private func withSignalsHeld(_ body: () throws(FileError) -> Void) throws(FileError) {
    var held = sigset_t()
    var before = sigset_t()
    sigemptyset(&held)
    sigaddset(&held, SIGINT)
    sigaddset(&held, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &held, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
}
