/// Sorts entries by their keys with limited memory: sorted runs in a file are merged (an external
/// merge sort). The sort is stable.
///
/// The file has no name, so that it disappears with the process. A small number of entries needs no
/// file.
package final class ExternalSort {
    private let folder: String
    private let memory: Int
    private var run = SortedRun()
    private var file: UnlinkedFile?
    private var runs: [Range<Int>] = []

    /// The number of added entries.
    package private(set) var count = 0

    /// Creates an empty sort.
    ///
    /// - Parameters:
    ///   - folder: the folder of the file, which is created when it is needed, such as `/tmp`.
    ///   - memory: the approximate number of bytes of entries in memory.
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

    private func makeFile() throws(FileError) -> UnlinkedFile {
        if let file { return file }
        let new = try UnlinkedFile(in: folder)
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

    /// All entries, sorted; no more can be added afterwards.
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
