/// Puts entries in the order of their keys, more of them than memory holds: sorted runs in a file,
/// which are merged (an external merge sort). Entries of one key stay in the order in which they were
/// added.
///
/// The file has no name, so that it disappears however the process ends. Few entries need no file.
package final class ExternalSort {
    private let folder: String
    private let memory: Int
    private var run = SortedRun()
    private var file: UnlinkedFile?
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
