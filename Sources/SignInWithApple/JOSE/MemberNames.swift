/// The names of one object's members, to notice one that comes twice.
///
/// Compared as bytes, because Swift takes some different texts for the same. Apple's objects are
/// small: looking through a few names costs less than hashing one, and far less than the runtime's
/// preparations for the first set.
struct MemberNames {
    private var few: [String] = []
    private var many: Set<[UInt8]> = []

    /// Takes a name; false when it has it already.
    mutating func insert(_ name: String) -> Bool {
        guard few.count == Self.limit else {
            guard !few.contains(where: { $0.isExactly(name) }) else { return false }
            few.append(name)
            return true
        }
        if many.isEmpty { many = Set(few.map { Array($0.utf8) }) }
        return many.insert(Array(name.utf8)).inserted
    }

    private static let limit = 16
}
