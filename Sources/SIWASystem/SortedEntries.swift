/// An entry of a sort.
package struct SortedEntry: Sendable {
    /// The key by which entries are sorted.
    package let key: [UInt8]
    /// The bytes that are sorted with the key; they do not affect the order.
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

    init(_ run: SortedRun, _ folder: String) {
        (source, self.folder) = (.memory(run, next: 0), folder)
    }

    init(merging readers: [RunReader], _ folder: String) throws(FileError) {
        (source, self.folder) = (.file(try RunMerge(readers)), folder)
    }

    /// The error for an entry that differs from the one added.
    package var damaged: FileError { .damagedTemporaryFile(in: folder) }

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
