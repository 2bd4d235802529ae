internal import Glibc
package import SIWACrypto

/// Replaces a file atomically: writes a temporary file in the same folder, syncs it, and renames it
/// over the old one, which must be this user's. A device, a pipe or an open stream (`/dev/stdout`,
/// `/dev/fd/N`) is written directly.
///
/// Signals that end the process are delayed until it is done (see ``ProcessSignals``), so that no temporary
/// file remains; files that a killed process left are removed.
///
/// - Throws: ``FileError``; the old file is then unchanged.
package func writeFile(
    _ contents: SecretBytes, to path: String, permissions: UInt32 = 0o600,
    link: SymbolicLink = .followed
) throws(FileError) {
    switch link == .followed ? try WriteTarget(path) : .file(path, exists: false) {
    case .file(let target, _):
        try withSignalsHeld { () throws(FileError) in
            try write(contents, to: target, named: path, permissions: permissions)
        }
    case .stream(let descriptor):
        defer { close(descriptor) }
        try writeAll(contents, to: descriptor, named: path)
    }
}

/// Creates a file atomically, as ``writeFile(_:to:permissions:link:)`` does.
///
/// - Throws: ``FileError``; its `isTaken` is true if the path exists, which is then unchanged. See
///   also ``requireOwnFolder(_:_:)``.
package func createFile(
    _ contents: SecretBytes, at path: String, permissions: UInt32 = 0o600
) throws(FileError) {
    try requireOwnFolder("create", path)
    try withSignalsHeld { () throws(FileError) in
        try write(contents, to: path, named: path, permissions: permissions, isNew: true)
    }
}

/// A file to write, by its name in a folder.
package struct NamedContents: Sendable {
    /// The name, which may begin with subfolders: `zsh/site-functions/_siwa`.
    package let name: String
    /// The contents.
    package let contents: SecretBytes

    /// Describes a file.
    package init(_ name: String, _ contents: SecretBytes) {
        (self.name, self.contents) = (name, contents)
    }
}

/// Writes files into an existing folder, and replaces old ones. Their subfolders are created.
///
/// No file gets its name before all of them are complete on the disk.
///
/// - Throws: ``FileError``; the old files are then unchanged.
package func writeFiles(
    _ files: [NamedContents], into folder: String, permissions: UInt32 = 0o644
) throws(FileError) {
    try checkWritable(folder)
    try withSignalsHeld { () throws(FileError) in
        var written: [(temporary: TemporaryFile, path: String)] = []
        defer { for file in written { file.temporary.end() } }
        for file in files {
            let path = "\(folder)/\(file.name)"
            try makeFolders(below: folder, for: file.name)
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                throw FileError("write", path, code: EISDIR)
            }
            TemporaryFile.removeStale(beside: path)
            let temporary = try TemporaryFile(for: path, named: path)
            written.append((temporary, path))
            try temporary.complete(file.contents, named: path, permissions: permissions)
        }
        for file in written {
            _ = try system("write", file.path) { rename(file.temporary.path, file.path) }
            syncFolder(of: file.path)
        }
    }
}

private func checkWritable(_ folder: String) throws(FileError) {
    let operation = "write to"
    do throws(FileError) {
        var status = stat()
        _ = try system(operation, folder) { stat(folder, &status) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw FileError(operation, folder, code: ENOTDIR)
        }
        _ = try system(operation, folder) { access(folder, W_OK | X_OK) }
    } catch {
        throw FileError(
            operation, folder, reason: error.reason, code: error.code,
            remedy: error.isMissing
                ? "create the folder, or give another one"
                : "give a folder that this user may write to")
    }
}

private func makeFolders(below folder: String, for name: String) throws(FileError) {
    var path = folder
    for part in name.split(separator: "/").dropLast() {
        path += "/\(part)"
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw FileError("create", path) }
    }
}

/// How a symbolic link at the path is treated.
package enum SymbolicLink: Sendable {
    /// Its target is written, for paths that a user named.
    case followed
    /// It is replaced by a file, for names that a program chose.
    case replaced
}

/// Makes a symbolic link, or atomically lets an existing one have another target.
///
/// - Throws: ``FileError``, also if something other than a link is at the path.
package func writeLink(to target: String, at path: String) throws(FileError) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK {
        throw FileError("link", path, code: EEXIST)
    }
    let temporary = "\(path).\(processID())"
    _ = try system("link", path) { symlink(target, temporary) }
    do throws(FileError) {
        _ = try system("link", path) { rename(temporary, path) }
    } catch {
        unlink(temporary)
        throw error
    }
    syncFolder(of: path)
}

/// Makes a folder; its parent must exist.
///
/// - Throws: ``FileError``, also if the path exists.
package func createDirectory(_ path: String, permissions: UInt32 = 0o700) throws(FileError) {
    _ = try system("create", path) { mkdir(path, permissions) }
}

private func write(
    _ contents: SecretBytes, to target: String, named path: String, permissions: UInt32,
    isNew: Bool = false
) throws(FileError) {
    try writeTemporary(contents, beside: target, named: path, permissions: permissions) {
        temporary throws(FileError) in
        // link(2) never replaces an existing file, unlike rename(2).
        _ = try system("write", path) {
            isNew ? Glibc.link(temporary, target) : rename(temporary, target)
        }
    }
}

/// Writes a temporary file beside `target`, syncs it, and lets `place` give it its name. The
/// temporary name is removed, unless another file has it by then.
func writeTemporary(
    _ contents: SecretBytes, beside target: String, named path: String, permissions: UInt32,
    _ place: (_ temporary: String) throws(FileError) -> Void
) throws(FileError) {
    TemporaryFile.removeStale(beside: target)
    let temporary = try TemporaryFile(for: target, named: path)
    defer { temporary.end() }
    try temporary.complete(contents, named: path, permissions: permissions)
    try place(temporary.path)
    syncFolder(of: target)
}

/// Writes all bytes, also if the system takes only some at a time. Writing zero bytes fails if the
/// stream has no reader.
package func writeAll(
    _ contents: SecretBytes, to descriptor: CInt, named path: String
) throws(FileError) {
    var done = 0
    if contents.count == 0 { try checkReader(of: descriptor, named: path) }
    // At least once, because writing zero bytes tests whether the stream is writable.
    repeat {
        done += try system("write", path, on: descriptor, until: POLLOUT) {
            contents.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            }
        }
    } while done < contents.count
}

/// Checks with poll(2), because a pipe accepts a write of zero bytes even without a reader.
private func checkReader(of descriptor: CInt, named path: String) throws(FileError) {
    var readiness = pollfd(fd: descriptor, events: 0, revents: 0)
    _ = try system("write", path) { poll(&readiness, 1, 0) }
    guard readiness.revents & Int16(POLLERR | POLLHUP) == 0 else {
        throw FileError("write", path, code: EPIPE)
    }
}

/// Removes a file; succeeds if it does not exist.
package func removeFile(_ path: String) throws(FileError) {
    if unlink(path) == -1, errno != ENOENT { throw FileError("remove", path) }
}

/// Makes the rename durable. Some file systems refuse to sync a folder; this is not an error,
/// because the file is complete in any case.
private func syncFolder(of path: String) {
    let folder = folderPrefix(of: path)
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
}

func withSignalsHeld(_ body: () throws(FileError) -> Void) throws(FileError) {
    signalGate.close()
    defer {
        if let signal = signalGate.open() { _exit(128 + signal) }
    }
    try body()
}
