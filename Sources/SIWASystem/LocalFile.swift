internal import Glibc
package import SIWACrypto

/// The contents and the status of a file.
package struct LocalFile: Sendable {
    /// The contents, treated as a secret.
    package let contents: SecretBytes
    /// The owner and the permissions.
    package let status: FileStatus

    /// Describes a file, on disk or in a test. A byte order mark at its beginning is dropped.
    package init(contents: SecretBytes, status: FileStatus) {
        (self.contents, self.status) = (contents.withoutByteOrderMark, status)
    }
}

/// Reads a whole file, or a pipe to its end.
///
/// - Throws: ``FileError`` if it cannot be read or is longer than `limit` bytes.
package func readFile(_ path: String, limit: Int = 1 << 20) throws(FileError) -> LocalFile {
    let descriptor = try openForReading(path)
    defer { close(descriptor) }
    return try contents(of: descriptor, named: path, limit: limit)
}

/// Reads a whole regular file. Unlike ``readFile(_:limit:)``, it never waits for the writer of a
/// pipe.
///
/// - Throws: ``FileError``, also if it is not a regular file.
package func readRegularFile(_ path: String, limit: Int = 1 << 20) throws(FileError) -> LocalFile {
    let descriptor = try system("read", path) {
        open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    }
    defer { close(descriptor) }
    return try contents(of: descriptor, named: path, limit: limit, onlyRegular: true)
}

private func contents(
    of descriptor: CInt, named path: String, limit: Int, onlyRegular: Bool = false
) throws(FileError) -> LocalFile {
    var status = stat()
    _ = try system("read", path) { fstat(descriptor, &status) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw FileError("read", path, code: EISDIR) }
    guard !onlyRegular || status.st_mode & S_IFMT == S_IFREG else {
        throw .notRegular("read", path)
    }
    return LocalFile(
        contents: try readToEnd(of: descriptor, named: path, limit: limit),
        status: FileStatus(status))
}

/// Reads standard input to its end, without a byte order mark.
///
/// - Throws: ``FileError`` if it cannot be read or is longer than `limit` bytes.
package func readStandardInput(limit: Int = 1 << 20) throws(FileError) -> SecretBytes {
    try readToEnd(of: STDIN_FILENO, named: "standard input", limit: limit).withoutByteOrderMark
}

/// Reads standard input up to and including the first line feed, and not further: the rest remains
/// for the next reader. A byte order mark before the line is dropped.
///
/// - Throws: ``FileError`` if it cannot be read or the line is longer than `limit` bytes.
package func readStandardInputLine(limit: Int = 1 << 16) throws(FileError) -> SecretBytes {
    var line = SecretBuffer(capacity: 4096)
    var byte: UInt8 = 0
    while true {
        let got = try system("read", "standard input", on: STDIN_FILENO, until: POLLIN) {
            read(STDIN_FILENO, &byte, 1)
        }
        if got == 0 || byte == 0x0A { return line.finished().withoutByteOrderMark }
        guard line.count < limit else { throw tooLarge("standard input", limit) }
        line.append(byte)
    }
}

/// Whether `path` exists.
package func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// The absolute path; symbolic links are not resolved.
package func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    let name = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    let parent = String(cString: folder)
    return parent == "/" ? "/\(name)" : "\(parent)/\(name)"
}

/// The absolute path without symbolic links; the path itself if there is no such file.
package func resolvedPath(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(validatingCString: resolved) ?? path
}

/// The names in a folder, sorted; empty if it cannot be read.
package func namesInFolder(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if let name, name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

private func readToEnd(
    of descriptor: CInt, named path: String, limit: Int
) throws(FileError) -> SecretBytes {
    var contents = SecretBuffer(capacity: 4096)
    while true {
        let got = try contents.append(upTo: 4096) { room throws(FileError) in
            try system("read", path, on: descriptor, until: POLLIN) {
                read(descriptor, room.baseAddress, room.count)
            }
        }
        if got == 0 { return contents.finished() }
        guard contents.count <= limit else { throw tooLarge(path, limit) }
    }
}

private func tooLarge(_ path: String, _ limit: Int) -> FileError {
    FileError("read", path, reason: "it holds more than \(limit) bytes", code: EFBIG)
}
