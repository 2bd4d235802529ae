internal import Glibc
internal import SIWACrypto

extension LineWriter {
    /// Opens a file to which results are appended, a line each, and which no second run may
    /// write at the same time.
    ///
    /// - Parameters:
    ///   - keep: nil for a new run, whose file must be empty; else called with each existing line;
    ///     returns whether it is a result. An incomplete last line, left by a crash, is
    ///     cut off.
    ///   - beginning: the bytes with which every result begins. If the last line begins with
    ///     something else, the file was named by mistake.
    ///   - news: see ``LineWriter``.
    /// - Throws: ``FileError``.
    package static func appending(
        to path: String, keeping keep: ((InputLine) -> Bool)?, beginning: String = "",
        news: @escaping @Sendable () -> Void
    ) throws(FileError) -> LineWriter {
        let (descriptor, size) = try openResults(path)
        let writer = LineWriter(descriptor, named: path, news: news)
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
            return writer
        }
        let whole = try wholeLines(
            of: descriptor, path, size, beginning, keep)
        if whole < size {
            _ = try system("write", path) { ftruncate(descriptor, off_t(whole)) }
        }
        return writer
    }

    /// Opens what the path leads to, for this user alone.
    ///
    /// - Returns: the descriptor, and the size of a regular file; nil for a device or a pipe.
    private static func openResults(
        _ path: String
    ) throws(FileError) -> (descriptor: CInt, size: Int?) {
        for _ in 0..<40 {
            switch try WriteTarget(path) {
            case .stream(let descriptor): return (descriptor, nil)
            case .file(let target, let exists):
                // Read as well, because what is there may have to be looked at.
                let flags =
                    O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
                    | (exists ? 0 : O_CREAT | O_EXCL)
                let descriptor = open(target, flags, 0o600)
                guard descriptor >= 0 else {
                    // Another process made, removed or replaced it meanwhile.
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

    /// Examines the open file, even if its path now leads elsewhere, and closes it to others.
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
                    // After a power cut the last line can have its end and not its middle.
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
    /// Whether a crash can have left this of a line with that beginning. A power cut can leave
    /// zeros in place of what was not synced.
    fileprivate func canBeTorn(from beginning: String) -> Bool {
        guard let bytes else { return false }
        return bytes.withUnsafeBytes { bytes in
            bytes.first == 0 || zip(bytes, beginning.utf8).allSatisfy(==)
        }
    }
}
