internal import Glibc
internal import SIWACProcess
package import SIWACrypto

/// Which file a command may replace: an empty one, and one that holds what the command writes.
/// Any other file was named by mistake, such as a private key.
package struct ReplacementRule: Sendable {
    /// What the command writes, such as `a client_secret`.
    package let product: String
    /// The permissions of the new file.
    package let permissions: UInt32
    /// Whether a device, a pipe or an open stream is written as it is; otherwise it is refused.
    package let allowsStreams: Bool
    private let isProduct: @Sendable (SecretBytes) -> Bool

    /// Creates a rule.
    ///
    /// - Parameter isProduct: whether these contents, the first MiB of a file, are the product.
    package init(
        _ product: String, permissions: UInt32 = 0o600, allowsStreams: Bool = true,
        _ isProduct: @escaping @Sendable (SecretBytes) -> Bool
    ) {
        (self.product, self.permissions, self.isProduct) = (product, permissions, isProduct)
        self.allowsStreams = allowsStreams
    }

    /// Checks the contents of an existing file.
    ///
    /// - Throws: ``FileError``, whose `isRefusedReplacement` is true, if they must be kept.
    package func check(_ contents: SecretBytes, at path: String) throws(FileError) {
        let contents = contents.withoutByteOrderMark
        guard contents.count == 0 || isProduct(contents) else {
            throw FileError(
                "replace", path, reason: "it is not empty, and does not hold \(product)")
        }
    }

    /// Checks the regular file at a path without symbolic links.
    func check(_ target: String, named path: String) throws(FileError) {
        let descriptor = try system("read", path) {
            open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        }
        defer { close(descriptor) }
        var status = stat()
        _ = try system("read", path) { fstat(descriptor, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular("replace", path) }
        guard status.isOwn else { throw .foreign("file", status, path) }
        try check(beginning(of: descriptor, path), at: path)
    }

    private func beginning(
        of descriptor: CInt, _ path: String
    ) throws(FileError) -> SecretBytes {
        var contents = SecretBuffer(capacity: 4096)
        while contents.count < 1 << 20 {
            let got = try contents.append(upTo: 4096) { room throws(FileError) in
                try system("read", path) { read(descriptor, room.baseAddress, room.count) }
            }
            if got == 0 { break }
        }
        return contents.finished()
    }
}

extension FileError {
    /// Whether the rule of a command forbids to replace the file.
    package var isRefusedReplacement: Bool { operation == "replace" }

    static func notRegular(_ operation: String, _ path: String) -> FileError {
        FileError(operation, path, reason: "it is not a regular file")
    }
}

/// Fails unless the rule allows a command to write to the path. Nothing is changed or opened for
/// writing, so that a command can ask before it does anything else.
///
/// - Throws: ``FileError``.
package func checkReplacement(at path: String, _ rule: ReplacementRule) throws(FileError) {
    _ = try checkedPlace(path, rule)
}

private func checkedPlace(
    _ path: String, _ rule: ReplacementRule
) throws(FileError) -> WritePlace {
    let place = try WritePlace(path)
    switch place {
    case .file(let target, exists: true): try rule.check(target, named: path)
    case .file(_, exists: false): break
    case .descriptor, .special:
        guard rule.allowsStreams else { throw .notRegular("replace", path) }
    }
    return place
}

/// Creates or replaces a file as ``writeFile(_:to:permissions:link:)`` does, if the rule allows it.
///
/// The file that is replaced is the one that was checked, also if another process changes it at the
/// same time: it is exchanged with the new one, checked again, and put back if it must be kept.
///
/// - Throws: ``FileError``; the old file is then unchanged.
package func replaceFile(
    _ contents: SecretBytes, at path: String, _ rule: ReplacementRule
) throws(FileError) {
    for _ in 0..<40 {
        if case .file(let target, let exists) = try checkedPlace(path, rule) {
            if try replace(target, exists: exists, contents, named: path, rule) { return }
        } else if case .stream(let descriptor) = try WriteTarget(path) {
            defer { close(descriptor) }
            return try writeAll(contents, to: descriptor, named: path)
        }
    }
    throw FileError("write", path, reason: "other processes change it all the time")
}

/// Returns false if another process has created or removed the file in the meantime.
private func replace(
    _ target: String, exists: Bool, _ contents: SecretBytes, named path: String,
    _ rule: ReplacementRule
) throws(FileError) -> Bool {
    var isDone = false
    try withSignalsHeld { () throws(FileError) in
        try writeTemporary(
            contents, beside: target, named: path, permissions: rule.permissions
        ) { temporary throws(FileError) in
            isDone =
                exists
                ? try exchange(temporary, target, named: path, rule)
                : try create(target, from: temporary, named: path)
        }
    }
    return isDone
}

/// Gives the temporary file its name; returns false if another process has created such a file.
private func create(
    _ target: String, from temporary: String, named path: String
) throws(FileError) -> Bool {
    // link(2) never replaces an existing file, unlike rename(2).
    guard link(temporary, target) == 0 else {
        guard errno == EEXIST else { throw FileError("write", path) }
        return false
    }
    return true
}

/// Exchanges the temporary file with the old one, and checks the old one; returns false if there is
/// none any more.
private func exchange(
    _ temporary: String, _ target: String, named path: String, _ rule: ReplacementRule
) throws(FileError) -> Bool {
    guard siwa_exchange_files(temporary, target) == 0 else {
        if errno == ENOENT { return false }
        // Not every file system can exchange files.
        guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { throw FileError("write", path) }
        try rule.check(target, named: path)
        _ = try system("write", path) { rename(temporary, target) }
        return true
    }
    do throws(FileError) {
        try rule.check(temporary, named: path)
    } catch {
        siwa_exchange_files(temporary, target)
        throw error
    }
    unlink(temporary)
    return true
}
