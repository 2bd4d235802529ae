internal import JOSE
package import LocalFiles

/// The ids that were met, to find the one that is met twice: a few in memory, many on disk, so
/// that a long input takes no more memory than a short one.
struct SeenIDs: Sendable {
    private var few: Set<Int> = []
    private var many: (any HashSink)?
    private let spill: @Sendable () throws(FileError) -> any HashSink

    /// - Parameter spill: makes room on disk, once memory is full.
    init(spill: @escaping @Sendable () throws(FileError) -> any HashSink) { self.spill = spill }

    /// False when it was there already.
    ///
    /// - Throws: ``FileError`` if the set cannot be read.
    mutating func insert(_ id: JSON) throws(FileError) -> Bool {
        // Under a random key of this process: an input cannot make two ids collide. A string and a
        // number of the same digits are two ids.
        let hash = id.hashValue
        if let many { return try many.insert(UInt64(bitPattern: Int64(hash))) }
        guard few.count >= Self.most else { return few.insert(hash).inserted }
        let many = try spill()
        for hash in few { _ = try many.insert(UInt64(bitPattern: Int64(hash))) }
        self.many = many
        few = []
        return try many.insert(UInt64(bitPattern: Int64(hash)))
    }

    private static let most = 1 << 11
}

/// A set of hashes, in memory or in a file; see ``HashFile``.
package protocol HashSink: Sendable {
    /// False when it was there already.
    func insert(_ hash: UInt64) throws(FileError) -> Bool
}

extension HashFile: HashSink {}
