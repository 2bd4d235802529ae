internal import Glibc
internal import Synchronization

/// A set of hashes on disk: what a long run has met, without memory that grows with it.
///
/// Open addressing in a file that has no name any more, so that nothing is left behind
/// however the process ends. It holds hashes under a key of this process, and nothing else.
public final class HashFile: Sendable {
    private let table: Mutex<HashTable>

    /// Makes an empty one.
    ///
    /// - Parameter folder: where the file is made, such as `/tmp`.
    /// - Throws: ``FileError``.
    public init(in folder: String, slots: Int = 1 << 16) throws(FileError) {
        table = Mutex(try HashTable(in: folder, slots: slots))
    }

    /// False when it was there already.
    ///
    /// - Throws: ``FileError``.
    public func insert(_ hash: UInt64) throws(FileError) -> Bool {
        try table.withLock { table throws(FileError) in try table.insert(hash) }
    }
}

private struct HashTable: ~Copyable {
    private var descriptor: CInt
    private let folder: String
    /// A power of two.
    private var slots: Int
    private var count = 0

    init(in folder: String, slots: Int) throws(FileError) {
        (self.folder, self.slots) = (folder, slots)
        descriptor = try Self.makeFile(in: folder, slots)
    }

    deinit { close(descriptor) }

    mutating func insert(_ hash: UInt64) throws(FileError) -> Bool {
        if count * 2 >= slots { try grow() }
        let isNew = try Self.insert(hash, descriptor, slots, folder)
        if isNew { count += 1 }
        return isNew
    }

    private mutating func grow() throws(FileError) {
        let larger = try Self.makeFile(in: folder, slots * 4)
        do throws(FileError) {
            var chunk = [UInt64](repeating: 0, count: 1 << 12)
            var offset = 0
            while offset < slots {
                let here = min(chunk.count, slots - offset)
                var room = chunk.mutableSpan
                try Self.transfer(&room, here, at: offset, descriptor, folder, isWriting: false)
                for hash in chunk[..<here] where hash != 0 {
                    _ = try Self.insert(hash, larger, slots * 4, folder)
                }
                offset += here
            }
        } catch {
            close(larger)
            throw error
        }
        close(descriptor)
        (descriptor, slots) = (larger, slots * 4)
    }

    /// Probes a cache line of slots at a time.
    private static func insert(
        _ hash: UInt64, _ descriptor: CInt, _ slots: Int, _ folder: String
    ) throws(FileError) -> Bool {
        // Zero is an empty slot.
        var wanted: [1 of UInt64] = [max(hash, 1)]
        var line: [8 of UInt64] = .init(repeating: 0)
        var start = Int(truncatingIfNeeded: wanted[0] >> 1) & (slots - 1) & ~7
        while true {
            var room = line.mutableSpan
            try transfer(&room, 8, at: start, descriptor, folder, isWriting: false)
            for index in line.indices {
                if line[index] == wanted[0] { return false }
                guard line[index] == 0 else { continue }
                var slot = wanted.mutableSpan
                try transfer(&slot, 1, at: start + index, descriptor, folder, isWriting: true)
                return true
            }
            start = (start + 8) & (slots - 1)
        }
    }

    private static func makeFile(in folder: String, _ slots: Int) throws(FileError) -> CInt {
        var template = Array((folder + "/siwa.XXXXXX").utf8CString)
        let descriptor = try system("create", folder) { mkstemp(&template) }
        unlink(template)
        do throws(FileError) {
            _ = try system("create", folder) { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            _ = try system("create", folder) { ftruncate(descriptor, off_t(slots * 8)) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func transfer(
        _ slots: inout MutableSpan<UInt64>, _ count: Int, at start: Int, _ descriptor: CInt,
        _ folder: String, isWriting: Bool
    ) throws(FileError) {
        let moved = try system(isWriting ? "write" : "read", folder) {
            slots.withUnsafeMutableBytes { bytes in
                isWriting
                    ? pwrite(descriptor, bytes.baseAddress, count * 8, off_t(start * 8))
                    : pread(descriptor, bytes.baseAddress, count * 8, off_t(start * 8))
            }
        }
        guard moved == count * 8 else {
            throw FileError("write", folder, reason: "a temporary file is cut short")
        }
    }
}
