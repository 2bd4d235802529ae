internal import Glibc
internal import Synchronization

/// A set of hashes on disk, for the ids that a long run has seen, with limited memory.
///
/// A filter in memory recognises most new hashes, which are written without a search. For the
/// others, one log is searched, which has a thousandth of all hashes. The file has no name, so that
/// it disappears with the process. It contains only hashes with a key of this process.
package final class HashFile: Sendable {
    private let logs: Mutex<HashLogs>

    /// Creates an empty set.
    ///
    /// - Parameter folder: the folder of the file, such as `/tmp`.
    /// - Throws: ``FileError``.
    package init(in folder: String) throws(FileError) {
        logs = Mutex(try HashLogs(in: folder))
    }

    /// Adds a hash; returns false if the set has it.
    ///
    /// - Throws: ``FileError``.
    package func insert(_ hash: UInt64) throws(FileError) -> Bool {
        try logs.withLock { logs throws(FileError) in try logs.insert(hash) }
    }
}

private struct HashLogs: ~Copyable {
    private let descriptor: CInt
    private let folder: String
    /// A Bloom filter: a hash of which one of three bits is not set is new.
    private var marks = [UInt64](repeating: 0, count: markBits / 64)
    /// The latest hashes of each log, which are not on disk yet.
    private var recent = [UInt64](repeating: 0, count: logCount * groupSize)
    /// The number of hashes in each log, including the recent ones.
    private var counts = [Int](repeating: 0, count: logCount)

    private static var logCount: Int { 1 << 10 }
    private static var groupSize: Int { 8 }
    private static var markBits: Int { 1 << 21 }
    /// The most hashes in a log. The logs are far apart in a sparse file, which takes space only
    /// for written parts.
    private static var mostInLog: Int { 1 << 17 }

    init(in folder: String) throws(FileError) {
        self.folder = folder
        descriptor = try makeUnlinkedFile(in: folder)
    }

    deinit { close(descriptor) }

    mutating func insert(_ hash: UInt64) throws(FileError) -> Bool {
        let log = Int(hash & UInt64(Self.logCount - 1))
        if mark(hash), try contains(hash, in: log) { return false }
        recent[log * Self.groupSize + counts[log] % Self.groupSize] = hash
        counts[log] += 1
        if counts[log] % Self.groupSize == 0 { try write(log) }
        return true
    }

    /// Sets the bits of a hash; returns whether all of them were set already.
    private mutating func mark(_ hash: UInt64) -> Bool {
        var wereSet = true
        for bits in [hash >> 10, hash >> 32, (hash &* 0x9E37_79B9_7F4A_7C15) >> 40] {
            let place = Int(truncatingIfNeeded: bits) & (Self.markBits - 1)
            let bit: UInt64 = 1 << UInt64(place % 64)
            wereSet = wereSet && marks[place / 64] & bit != 0
            marks[place / 64] |= bit
        }
        return wereSet
    }

    private func contains(_ hash: UInt64, in log: Int) throws(FileError) -> Bool {
        let group = recent[log * Self.groupSize..<(log + 1) * Self.groupSize]
        let onDisk = counts[log] / Self.groupSize * Self.groupSize
        if group.prefix(counts[log] - onDisk).contains(hash) { return true }
        var chunk = [UInt64](repeating: 0, count: min(onDisk, 1 << 12))
        var read = 0
        while read < onDisk {
            let count = min(chunk.count, onDisk - read)
            try transfer("read", &chunk, count, at: log * Self.mostInLog + read) {
                pread($0, $1.baseAddress, $1.count, $2)
            }
            if chunk[..<count].contains(hash) { return true }
            read += count
        }
        return false
    }

    private func write(_ log: Int) throws(FileError) {
        let start = counts[log] - Self.groupSize
        guard start < Self.mostInLog else {
            throw FileError("write", folder, reason: "a temporary file is full")
        }
        var group = Array(recent[log * Self.groupSize..<(log + 1) * Self.groupSize])
        try transfer("write", &group, group.count, at: log * Self.mostInLog + start) {
            pwrite($0, $1.baseAddress, $1.count, $2)
        }
    }

    private func transfer(
        _ action: String, _ hashes: inout [UInt64], _ count: Int, at place: Int,
        _ call: (CInt, UnsafeMutableRawBufferPointer, off_t) -> Int
    ) throws(FileError) {
        let moved = try temporaryFile(action, in: folder) {
            hashes.withUnsafeMutableBytes { bytes in
                call(
                    descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[..<(count * 8)]),
                    off_t(place * 8))
            }
        }
        guard moved == count * 8 else {
            throw FileError("\(action) a temporary file in", folder, reason: "it is cut short")
        }
    }
}
