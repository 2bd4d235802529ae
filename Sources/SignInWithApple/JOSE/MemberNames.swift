/// Notices a name that comes twice in one object.
///
/// Compared as bytes, because Swift takes some different texts for the same. Apple's objects are
/// small: looking through a few names costs less than hashing one, and far less than the runtime's
/// preparations for the first set.
struct MemberNames {
    /// Empty while there are few.
    private var many: Set<[UInt8]> = []

    /// Takes a name; false when one of `members`, which are all that came before, has it.
    mutating func insert(_ name: String, behind members: [JSON.Member]) -> Bool {
        guard members.count >= Self.limit else {
            for index in members.indices where members[index].name.isExactly(name) { return false }
            return true
        }
        if many.isEmpty { many = Set(members.map { Array($0.name.utf8) }) }
        return many.insert(Array(name.utf8)).inserted
    }

    private static let limit = 16
}
