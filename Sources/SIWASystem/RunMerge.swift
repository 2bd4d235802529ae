/// Reads one run, with a part of it in memory.
struct RunReader {
    private let file: UnlinkedFile
    /// The part that was not read yet.
    private var rest: Range<Int>
    private let partSize: Int
    /// The part in memory, and the position of the current entry in it.
    private(set) var part: [UInt8] = []
    private(set) var start = 0

    init(_ file: UnlinkedFile, _ range: Range<Int>, _ partSize: Int) {
        (self.file, rest, self.partSize) = (file, range, partSize)
    }

    /// Advances to the first or the next entry.
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

    /// Reads until `count` bytes of the current entry are in memory.
    private mutating func need(_ count: Int) throws(FileError) {
        guard part.count - start < count else { return }
        part.removeFirst(start)
        start = 0
        while part.count < count {
            guard !rest.isEmpty else { throw file.damaged }
            let wanted = min(max(partSize, count) - part.count, rest.count)
            let bytes = try file.read(upTo: wanted, at: rest.lowerBound)
            rest = rest.lowerBound + bytes.count..<rest.upperBound
            part += bytes
        }
    }
}

/// Merges runs: the one whose entry comes first is at the top of a heap.
final class RunMerge {
    private var readers: [RunReader]
    /// The indices of readers that are not at their end.
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

    /// Of entries with equal keys, those of earlier runs come first.
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
