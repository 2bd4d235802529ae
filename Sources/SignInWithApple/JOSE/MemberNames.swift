/// Notices a name that comes twice in one object.
///
/// Compared as bytes, because Swift takes some different texts for the same. Apple's objects are
/// small: looking through a few names costs less than hashing one, and far less than the runtime's
/// preparations for the first set.
struct MemberNames {
    /// A bit for the length and the first byte of each: most new names need no second look.
    private var marks: UInt64 = 0
    /// Empty while there are few.
    private var many: Set<[UInt8]> = []

    /// Takes a name; false when one of `members`, which are all that came before, has it.
    mutating func insert(_ name: String, behind members: [JSON.Member]) -> Bool {
        guard members.count >= Self.limit else {
            let mark = Self.mark(name)
            defer { marks |= mark }
            guard marks & mark != 0 else { return true }
            for index in members.indices where members[index].name.isExactly(name) { return false }
            return true
        }
        if many.isEmpty { many = Set(members.map { Array($0.name.utf8) }) }
        return many.insert(Array(name.utf8)).inserted
    }

    private static func mark(_ name: String) -> UInt64 {
        1 << UInt64((name.utf8.count &* 8 ^ Int(name.utf8.first ?? 0)) & 63)
    }

    private static let limit = 16
}
