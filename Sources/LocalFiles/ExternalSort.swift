internal import Glibc

/// Puts entries in the order of their keys, more of them than memory holds: sorted runs in a file,
/// which are merged (an external merge sort). Entries of one key stay in the order in which they were
/// added.
///
/// The file has no name, so that it disappears however the process ends. Few entries need no file.
package final class ExternalSort {
    private let folder: String
    private let memory: Int
    private var run = SortedRun()
    private var file: RunFile?
    private var runs: [Range<Int>] = []

    /// How many entries were added.
    package private(set) var count = 0

    /// An empty one.
    ///
    /// - Parameters:
    ///   - folder: where the file is made once it is needed, such as `/tmp`.
    ///   - memory: about how many bytes of entries are in memory at once.
    package init(in folder: String, memory: Int = 6 << 20) {
        (self.folder, self.memory) = (folder, memory)
    }

    /// Adds an entry.
    ///
    /// - Throws: ``FileError``.
    package func add(_ key: [UInt8], _ value: [UInt8]) throws(FileError) {
        if run.isEmpty { run.reserve(memory) }
        if !run.isEmpty, run.size + key.count + value.count > memory { try writeRun() }
        run.add(key, value)
        count += 1
    }

    private func makeFile() throws(FileError) -> RunFile {
        if let file { return file }
        let new = try RunFile(in: folder)
        file = new
        return new
    }

    private func writeRun() throws(FileError) {
        let file = try makeFile()
        run.sort()
        let start = file.size
        var part: [UInt8] = []
        for index in run.indices {
            part += run.bytes(index)
            guard part.count >= 1 << 18 else { continue }
            try file.append(part)
            part.removeAll(keepingCapacity: true)
        }
        try file.append(part)
        runs.append(start..<file.size)
        run.removeAll()
    }

    /// Everything that was added, in order; nothing can be added any more.
    ///
    /// - Throws: ``FileError``.
    package func sorted() throws(FileError) -> SortedEntries {
        guard file != nil else {
            run.sort()
            defer { run = SortedRun() }
            return SortedEntries(run, folder)
        }
        if !run.isEmpty { try writeRun() }
        run = SortedRun()
        guard let file else { return SortedEntries(run, folder) }
        let part = max(memory / runs.count, 1 << 12)
        return try SortedEntries(merging: runs.map { RunReader(file, $0, part) }, folder)
    }
}

/// An entry of a sort.
package struct SortedEntry: Sendable {
    /// What it is ordered by.
    package let key: [UInt8]
    /// What belongs to the key.
    package let value: [UInt8]
}

/// The entries of a sort, one after the other.
package final class SortedEntries {
    private var source: Source
    private let folder: String

    private enum Source {
        case memory(SortedRun, next: Int)
        case file(RunMerge)
    }

    fileprivate init(_ run: SortedRun, _ folder: String) {
        (source, self.folder) = (.memory(run, next: 0), folder)
    }

    fileprivate init(merging readers: [RunReader], _ folder: String) throws(FileError) {
        (source, self.folder) = (.file(try RunMerge(readers)), folder)
    }

    /// For an entry that is not what was added.
    package var damaged: FileError { .damaged(in: folder) }

    /// The next entry; nil at the end.
    ///
    /// - Throws: ``FileError``.
    package func next() throws(FileError) -> SortedEntry? {
        switch source {
        case .memory(let run, let next):
            guard next < run.indices.upperBound else { return nil }
            source = .memory(run, next: next + 1)
            return run.entry(next)
        case .file(let merge): return try merge.next()
        }
    }
}

/// How an entry is written: the lengths of key and value, then both.
private enum EntryForm {
    static let headLength = 8

    static func head(_ key: Int, _ value: Int) -> [UInt8] {
        withUnsafeBytes(of: (UInt32(key).bigEndian, UInt32(value).bigEndian), Array.init)
    }

    /// The lengths of the entry that begins at `start`.
    static func lengths(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (key: Int, value: Int) {
        let key = bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
        let value = bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
        return (Int(UInt32(bigEndian: key)), Int(UInt32(bigEndian: value)))
    }

    static func entry(_ bytes: [UInt8], at start: Int) -> SortedEntry {
        let length = bytes.withUnsafeBytes { lengths($0, at: start) }
        let value = start + headLength + length.key
        return SortedEntry(
            key: Array(bytes[start + headLength..<value]),
            value: Array(bytes[value..<value + length.value]))
    }

    /// Compares the keys of two entries, byte by byte.
    static func order(
        _ left: UnsafeRawBufferPointer, _ leftStart: Int, _ right: UnsafeRawBufferPointer,
        _ rightStart: Int
    ) -> Int {
        let (leftLength, rightLength) = (
            lengths(left, at: leftStart).key, lengths(right, at: rightStart).key
        )
        guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return 0 }
        let order = memcmp(
            leftBase + leftStart + headLength, rightBase + rightStart + headLength,
            min(leftLength, rightLength))
        return order == 0 ? leftLength - rightLength : Int(order)
    }
}

/// Entries in memory.
private struct SortedRun {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    var size: Int { bytes.count + starts.count * MemoryLayout<Int>.size }
    var indices: Range<Int> { starts.indices }
    var isEmpty: Bool { starts.isEmpty }

    /// Takes the memory that the entries may have at once: growing would copy them.
    mutating func reserve(_ size: Int) { bytes.reserveCapacity(size) }

    mutating func add(_ key: [UInt8], _ value: [UInt8]) {
        starts.append(bytes.count)
        bytes += EntryForm.head(key.count, value.count)
        bytes += key
        bytes += value
    }

    mutating func sort() {
        bytes.withUnsafeBytes { bytes in
            starts.sort { left, right in
                let order = EntryForm.order(bytes, left, bytes, right)
                return order == 0 ? left < right : order < 0
            }
        }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
    }

    func entry(_ index: Int) -> SortedEntry { EntryForm.entry(bytes, at: starts[index]) }

    /// An entry as it is written.
    func bytes(_ index: Int) -> ArraySlice<UInt8> {
        let start = starts[index]
        let length = bytes.withUnsafeBytes { EntryForm.lengths($0, at: start) }
        return bytes[start..<start + EntryForm.headLength + length.key + length.value]
    }
}

/// Runs, one after the other, in a file without a name.
private final class RunFile {
    private let descriptor: CInt
    private let folder: String
    private(set) var size = 0

    init(in folder: String) throws(FileError) {
        self.folder = folder
        descriptor = try makeUnlinkedFile(in: folder)
    }

    deinit { close(descriptor) }

    func append(_ bytes: [UInt8]) throws(FileError) {
        var place = 0
        while place < bytes.count {
            place += try system("write", folder) {
                bytes[place...].withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress, $0.count, off_t(size + place))
                }
            }
        }
        size += bytes.count
    }

    /// Reads up to `count` bytes, at least one.
    func read(_ count: Int, at start: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try system("read", folder) {
            bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(start))
            }
        }
        guard got > 0 else { throw damaged }
        bytes.removeLast(count - got)
        return bytes
    }

    var damaged: FileError { .damaged(in: folder) }
}

extension FileError {
    /// A temporary file in `folder` has other contents than were written.
    fileprivate static func damaged(in folder: String) -> Self {
        Self("read", folder, reason: "a temporary file was damaged")
    }
}

/// Goes through one run, a part of it in memory.
private struct RunReader {
    private let file: RunFile
    /// What was not read yet.
    private var rest: Range<Int>
    private let partSize: Int
    /// What was read, and where the present entry begins in it.
    private(set) var part: [UInt8] = []
    private(set) var start = 0

    init(_ file: RunFile, _ range: Range<Int>, _ partSize: Int) {
        (self.file, rest, self.partSize) = (file, range, partSize)
    }

    /// Goes to the first entry, or to the next one.
    ///
    /// - Returns: false at the end.
    mutating func advance() throws(FileError) -> Bool {
        if !part.isEmpty { start += length }
        guard start < part.count || !rest.isEmpty else { return false }
        try need(EntryForm.headLength)
        try need(length)
        return true
    }

    var entry: SortedEntry { EntryForm.entry(part, at: start) }

    private var length: Int {
        let length = part.withUnsafeBytes { EntryForm.lengths($0, at: start) }
        return EntryForm.headLength + length.key + length.value
    }

    /// Reads until so many bytes of the present entry are there.
    private mutating func need(_ count: Int) throws(FileError) {
        guard part.count - start < count else { return }
        part.removeFirst(start)
        start = 0
        while part.count < count {
            guard !rest.isEmpty else { throw file.damaged }
            let wanted = min(max(partSize, count) - part.count, rest.count)
            let bytes = try file.read(wanted, at: rest.lowerBound)
            rest = rest.lowerBound + bytes.count..<rest.upperBound
            part += bytes
        }
    }
}

/// Merges runs: the one whose entry comes first is at the top of a heap.
private final class RunMerge {
    private var readers: [RunReader]
    /// Indices of readers that are not at their end.
    private var heap: [Int] = []

    init(_ readers: [RunReader]) throws(FileError) {
        self.readers = readers
        for index in readers.indices where try self.readers[index].advance() { heap.append(index) }
        for place in heap.indices.reversed() { sink(place) }
    }

    func next() throws(FileError) -> SortedEntry? {
        guard let first = heap.first else { return nil }
        let entry = readers[first].entry
        if try !readers[first].advance() {
            heap.swapAt(0, heap.count - 1)
            heap.removeLast()
        }
        sink(0)
        return entry
    }

    private func sink(_ place: Int) {
        var place = place
        while true {
            var least = 2 * place + 1
            guard least < heap.count else { return }
            if least + 1 < heap.count, precedes(heap[least + 1], heap[least]) { least += 1 }
            guard precedes(heap[least], heap[place]) else { return }
            heap.swapAt(least, place)
            place = least
        }
    }

    /// Earlier runs have the earlier ones among equal keys.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let order = readers[left].part.withUnsafeBytes { leftBytes in
            readers[right].part.withUnsafeBytes { rightBytes in
                EntryForm.order(
                    leftBytes, readers[left].start, rightBytes, readers[right].start)
            }
        }
        return order == 0 ? left < right : order < 0
    }
}
