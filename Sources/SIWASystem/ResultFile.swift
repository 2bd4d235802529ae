internal import Glibc
internal import SIWACrypto

extension LineWriter {
    /// Opens a file to which results are appended, one per line, and locks it against other runs.
    ///
    /// - Parameters:
    ///   - keep: nil for a new run, whose file must be empty. Otherwise it is called with each
    ///     existing line, and returns whether it is a result. An incomplete last line, left by a
    ///     crash, is cut off.
    ///   - beginning: the bytes with which every result begins. If the last line begins with
    ///     something else, the file was named by mistake.
    ///   - notify: see ``LineWriter``.
    /// - Throws: ``FileError``.
    package static func appending(
        to path: String, keeping keep: ((InputLine) -> Bool)?, beginning: String = "",
        notify: @escaping @Sendable () -> Void
    ) throws(FileError) -> LineWriter {
        let (descriptor, size) = try openResults(path)
        let writer = LineWriter(descriptor, named: path, notify: notify)
        guard let size else { return writer }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw FileError(
                "write", path, reason: "another run is writing it",
                remedy: "wait until that run has ended, or name another file")
        }
        guard let keep else {
            guard size == 0 else {
                throw FileError("write", path, reason: "it is not empty", code: ENOTEMPTY)
            }
            writer.watch(size: 0, lines: 0)
            return writer
        }
        var lines = 0
        let whole = try wholeLines(of: descriptor, path, size, beginning) { line in
            let isKept = keep(line)
            if isKept { lines += 1 }
            return isKept
        }
        if whole < size {
            _ = try system("write", path) { ftruncate(descriptor, off_t(whole)) }
        }
        writer.watch(size: whole, lines: lines)
        return writer
    }

    /// Opens the file or stream at the path; others get no access to it.
    ///
    /// - Returns: the descriptor, and the size of a regular file; nil for a device or a pipe.
    private static func openResults(
        _ path: String
    ) throws(FileError) -> (descriptor: CInt, size: Int?) {
        for _ in 0..<40 {
            switch try WriteTarget(path) {
            case .stream(let descriptor): return (descriptor, nil)
            case .file(let target, let exists):
                // Opened for reading as well, because existing contents may have to be read.
                let flags =
                    O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
                    | (exists ? 0 : O_CREAT | O_EXCL)
                let descriptor = open(target, flags, 0o600)
                guard descriptor >= 0 else {
                    // Another process created, removed or replaced it in the meantime.
                    guard [EEXIST, ELOOP].contains(errno) || exists && errno == ENOENT else {
                        throw FileError("write", path)
                    }
                    continue
                }
                return (descriptor, try takeOver(descriptor, path))
            }
        }
        throw FileError("write", path, code: ELOOP)
    }

    /// Examines and locks the open file, and removes the permissions of others.
    ///
    /// - Returns: its size.
    private static func takeOver(_ descriptor: CInt, _ path: String) throws(FileError) -> Int {
        do throws(FileError) {
            var status = stat()
            _ = try system("write", path) { fstat(descriptor, &status) }
            guard status.isOwn else { throw .foreign("file", status, path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw FileError("write", path, reason: "it is not a regular file")
            }
            if status.st_mode & 0o7777 != 0o600 {
                _ = try system("write", path) { fchmod(descriptor, 0o600) }
            }
            return Int(status.st_size)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// The number of bytes of complete lines at the beginning of the file.
    private static func wholeLines(
        of descriptor: CInt, _ path: String, _ size: Int, _ beginning: String,
        _ keep: (InputLine) -> Bool
    ) throws(FileError) -> Int {
        var splitter = LineSplitter(limit: size)
        var whole = 0
        while true {
            var chunk = SecretBuffer(capacity: 1 << 16)
            let got = try chunk.append(upTo: 1 << 16) { room throws(FileError) in
                try system("read", path) { read(descriptor, room.baseAddress, room.count) }
            }
            guard got > 0 else {
                for line in splitter.rest() where !line.canBeTorn(from: beginning) {
                    throw noResult(line, path)
                }
                return whole
            }
            for line in splitter.split(chunk.finished()) {
                let length = (line.bytes?.count ?? 0) + 1
                guard keep(line) else {
                    // After a power failure, the last line may have its end but not its middle.
                    guard whole + length >= size, line.canBeTorn(from: beginning) else {
                        throw noResult(line, path)
                    }
                    return whole
                }
                whole += length
            }
        }
    }

    private static func noResult(_ line: InputLine, _ path: String) -> FileError {
        FileError(
            "write", path, reason: "line \(line.number) is not a batch result", code: EBADMSG)
    }
}

extension InputLine {
    /// Whether a crash can have left these bytes of a line with that beginning. A power failure can
    /// leave zeros in place of bytes that were not synced.
    fileprivate func canBeTorn(from beginning: String) -> Bool {
        guard let bytes else { return false }
        return bytes.withUnsafeBytes { bytes in
            bytes.first == 0 || zip(bytes, beginning.utf8).allSatisfy(==)
        }
    }
}
