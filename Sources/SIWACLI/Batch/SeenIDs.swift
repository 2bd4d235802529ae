internal import SIWAApplication
internal import SIWAJOSE
internal import SIWASystem

/// The ids read so far, to detect repetitions: a few in memory, many on disk, to limit memory.
struct SeenIDs: Sendable {
    private var few: Set<Int> = []
    private var many: (any HashSink)?
    private let spill: @Sendable () throws(FileError) -> any HashSink

    /// - Parameter spill: creates the storage on disk when memory is full.
    init(spill: @escaping @Sendable () throws(FileError) -> any HashSink) { self.spill = spill }

    /// Adds an id; returns false if it was added before.
    ///
    /// - Throws: ``FileError`` if the set cannot be read.
    mutating func insert(_ id: JSON) throws(FileError) -> Bool {
        // Hashed with a random key of this process, so that an input cannot cause collisions. A
        // string and a number with the same digits are different ids.
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
