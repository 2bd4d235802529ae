internal import SIWACrypto

// An object with two members of one name is invalid. Names are compared as bytes, because Swift
// considers some different texts equal.
extension JSONReader {
    /// The names of an object that is being read. Apple's objects are small: comparing a few names
    /// costs less than hashing one, and far less than creating a set.
    struct MemberNames {
        var count = 0
        /// A bit for each of their marks.
        var marks: UInt64 = 0
        /// Empty while there are few.
        var many: Set<[UInt8]> = []

        static let few = 16
    }

    /// Fails if an earlier member of the object has the name that was just read.
    func checkName(of object: Int, _ names: inout MemberNames) throws(JSONError) {
        let name = nodes.count - 1
        names.count += 1
        // The bytes of a name with escapes say nothing.
        let mark: UInt64 = nodes[name].hasEscapes ? .max : 1 << UInt64(nodes[name].mark)
        let isUnlikeOthers = names.marks & mark == 0
        names.marks |= mark
        let isNew =
            if names.count <= MemberNames.few {
                isUnlikeOthers || !hasEarlierName(object) { isSameText($0, name) }
            } else {
                insert(name, of: object, into: &names.many)
            }
        guard isNew else {
            let text = String(decoding: text(of: name), as: UTF8.self)
            throw failure(.duplicate(text), at: nodes[name].range.lowerBound)
        }
    }

    /// Adds a name; returns false if the set has it.
    private func insert(_ name: Int, of object: Int, into names: inout Set<[UInt8]>) -> Bool {
        if names.isEmpty {
            _ = hasEarlierName(object) { earlier in
                names.insert(text(of: earlier))
                return false
            }
        }
        return names.insert(text(of: name)).inserted
    }

    /// Whether one of the object's names before the newest satisfies a condition.
    private func hasEarlierName(_ object: Int, _ isWanted: (Int) -> Bool) -> Bool {
        var index = object + 1
        while index < nodes.count - 1 {
            if isWanted(index) { return true }
            index = nodes[index + 1].next
        }
        return false
    }

    private func isSameText(_ one: Int, _ other: Int) -> Bool {
        guard !nodes[one].hasEscapes, !nodes[other].hasEscapes else {
            return text(of: one) == text(of: other)
        }
        let (one, other) = (nodes[one].content, nodes[other].content)
        guard one.count == other.count else { return false }
        let text = bytes.span
        return text.extracting(one).isExactly(text.extracting(other))
    }

    private func text(of name: Int) -> [UInt8] {
        nodes[name].hasEscapes
            ? unescaped.text(of: name) : Array(bytes[nodes[name].content])
    }
}
