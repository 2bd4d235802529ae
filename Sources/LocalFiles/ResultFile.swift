internal import Glibc
internal import SIWACrypto

extension LineWriter {
    /// Opens a file to which results are appended, a line each, and which no second run may
    /// write at the same time.
    ///
    /// - Parameters:
    ///   - keep: nil for a new run, whose file must be empty; else called with each line that
    ///     is there already, and answers whether it is one. What a crash left of a last line
    ///     is cut off.
    ///   - beginning: what every result begins with. A last line that does not is nothing a
    ///     crash left: somebody named the wrong file.
    ///   - news: see ``LineWriter``.
    /// - Throws: ``FileError``.
    public static func appending(
        to path: String, keeping keep: ((InputLine) -> Bool)?, beginning: String = "",
        news: @escaping @Sendable () -> Void
    ) throws(FileError) -> LineWriter {
        // Read as well, because what is there may have to be looked at.
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC
        let descriptor = try system("write", path) { open(path, flags, 0o600) }
        let writer = LineWriter(descriptor, named: path, news: news)
        var status = stat()
        _ = try system("write", path) { fstat(descriptor, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { return writer }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw FileError("write", path, reason: "another run is writing it")
        }
        guard let keep else {
            guard status.st_size == 0 else {
                throw FileError("write", path, reason: "it is not empty", code: ENOTEMPTY)
            }
            return writer
        }
        let whole = try wholeLines(
            of: descriptor, path, Int(status.st_size), beginning, keep)
        if whole < Int(status.st_size) {
            _ = try system("write", path) { ftruncate(descriptor, off_t(whole)) }
        }
        return writer
    }

    /// How many bytes of whole lines stand at the beginning of the file.
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
        FileError("write", path, reason: "line \(line.number) is no result of a batch")
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
