internal import Glibc

/// The encoding of an entry: the lengths of key and value, then both.
enum EntryForm {
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
struct SortedRun {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    var size: Int { bytes.count + starts.count * MemoryLayout<Int>.size }
    var indices: Range<Int> { starts.indices }
    var isEmpty: Bool { starts.isEmpty }

    /// Reserves all memory at once: growing would copy the entries.
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

    /// The bytes of an entry.
    func bytes(_ index: Int) -> ArraySlice<UInt8> {
        let start = starts[index]
        let length = bytes.withUnsafeBytes { EntryForm.lengths($0, at: start) }
        return bytes[start..<start + EntryForm.headLength + length.key + length.value]
    }
}
