internal import Glibc
public import SIWACrypto

/// Writes a file whole or not at all: to a temporary file in the same folder, synced,
/// then renamed over the old one, whose owner it keeps where the system allows.
///
/// SIGINT and SIGTERM wait until it is done (see ``ProcessSignals``), so that no
/// temporary file is left behind.
///
/// - Throws: ``FileError``; the old file is then as it was.
public func writeFile(
    _ contents: SecretBytes, to path: String, permissions: UInt32 = 0o600,
    link: SymbolicLink = .followed
) throws(FileError) {
    let target = link == .followed ? try resolvingLinks(path) : path
    var status = stat()
    let isThere = lstat(target, &status) == 0 && status.st_mode & S_IFMT != S_IFLNK
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
        throw FileError("write", path, reason: "it is not a regular file")
    }
    try withSignalsHeld { () throws(FileError) in
        try write(
            contents, to: target, named: path, permissions: permissions,
            owner: isThere ? (status.st_uid, status.st_gid) : nil)
    }
}

/// Writes a new file whole or not at all, as ``writeFile(_:to:permissions:link:)`` does.
///
/// - Throws: ``FileError``, which `isTaken` when something stands there: it is as it was.
public func createFile(
    _ contents: SecretBytes, at path: String, permissions: UInt32 = 0o600
) throws(FileError) {
    try withSignalsHeld { () throws(FileError) in
        try write(
            contents, to: path, named: path, permissions: permissions, owner: nil, isNew: true)
    }
}

/// What writing makes of a symbolic link at the path.
public enum SymbolicLink: Sendable {
    /// Its target is written, and it stays a link: what a user named.
    case followed
    /// It becomes a file: what a program named, for which nobody had a reason to place a link.
    case replaced
}

/// Makes a folder; its parent must exist.
///
/// - Throws: ``FileError`` also when something stands there already.
public func createDirectory(_ path: String, permissions: UInt32 = 0o700) throws(FileError) {
    _ = try system("create", path) { mkdir(path, permissions) }
}

private func write(
    _ contents: SecretBytes, to target: String, named path: String, permissions: UInt32,
    owner: (user: uid_t, group: gid_t)?, isNew: Bool = false
) throws(FileError) {
    var template = Array((target + ".XXXXXX").utf8CString)
    let descriptor = try system("write", path) { mkstemp(&template) }
    var isOpen = true
    do throws(FileError) {
        _ = try system("write", path) { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = try system("write", path) { fchmod(descriptor, permissions) }
        // Root rotates the file of an application, which must go on reading it.
        if let owner { _ = fchown(descriptor, owner.user, owner.group) }
        try writeAll(contents, to: descriptor, named: path)
        _ = try system("write", path) { fsync(descriptor) }
        isOpen = false
        _ = try system("write", path) { close(descriptor) }
        // A link never replaces what stands there; a rename does.
        _ = try system("write", path) {
            isNew ? link(template, target) : rename(template, target)
        }
        if isNew { unlink(template) }
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
    // At least once: writing nothing tells whether there is anything to write to.
    repeat {
        done += try system("write", path, on: descriptor, until: POLLOUT) {
            contents.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            }
        }
    } while done < contents.count
}

/// Removes a file; that there is none is no failure.
public func removeFile(_ path: String) throws(FileError) {
    if unlink(path) == -1, errno != ENOENT { throw FileError("remove", path) }
}

/// Makes the rename itself outlive a power cut. Some file systems refuse to sync a
/// folder; the file is whole in any case, so that is no failure.
private func syncFolder(of path: String) {
    let folder = folder(of: path)
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
}

/// The path up to and including its last slash; empty without one.
private func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
}

private func resolvingLinks(_ path: String) throws(FileError) -> String {
    if let resolved = realpath(path, nil) {
        defer { free(resolved) }
        return String(cString: resolved)
    }
    // Nothing stands there yet; but it may be a link to nothing, whose target is to be made.
    var target = path
    for _ in 0..<40 {
        guard let next = destination(ofLink: target) else { return target }
        target = next.hasPrefix("/") ? next : folder(of: target) + next
    }
    throw FileError("write", path, code: ELOOP)
}

private func destination(ofLink path: String) -> String? {
    var text = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &text, text.count)
    guard count > 0 else { return nil }
    return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
}

private func withSignalsHeld(_ body: () throws(FileError) -> Void) throws(FileError) {
    signalGate.close()
    defer {
        if let signal = signalGate.open() { _exit(128 + signal) }
    }
    try body()
}
