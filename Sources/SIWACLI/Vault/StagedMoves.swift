internal import SIWAApplication
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// The moves of a remapping, sorted before the first is made: users whose tokens would meet under one
/// id must be found while nothing is moved yet.
struct StagedMoves {
    /// By old id.
    private let moves: ExternalSort
    /// Every id with its role and the id on the other side.
    private let roles: ExternalSort
    private(set) var count = 0

    /// - Parameter sort: creates a sort with temporary storage on disk.
    init(_ sort: () -> ExternalSort) { (moves, roles) = (sort(), sort()) }

    private enum Role: UInt8 {
        case old = 1
        case new = 2
    }

    mutating func add(_ move: VaultRemap) throws {
        let (old, new) = (move.user.userID.rawValue.utf8, move.newUserID.rawValue.utf8)
        count += 1
        try moves.add(Array(old) + [0] + Array(new), [])
        // A user who keeps the id meets nobody but those who get it.
        try roles.add(Array(new) + [0, Role.new.rawValue] + Array(old), [])
        guard !old.elementsEqual(new) else { return }
        try roles.add(Array(old) + [0, Role.old.rawValue] + Array(new), [])
    }

    /// - Throws: ``Diagnosis`` that names ids under which tokens of several users would meet.
    func checkConflicts() throws {
        var conflicts = MoveConflicts()
        let entries = try roles.sorted()
        while let entry = try entries.next() {
            guard let end = entry.key.firstIndex(of: 0), entry.key.count > end + 1,
                let role = Role(rawValue: entry.key[end + 1])
            else { throw entries.damaged }
            let other = entry.key[(end + 2)...]
            conflicts.take(Array(entry.key[..<end]), isNew: role == .new, Array(other))
        }
        try conflicts.check()
    }

    /// The moves in the order of the old ids.
    func inOrder() throws -> Moves { Moves(entries: try moves.sorted()) }

    /// Moves, read in groups.
    struct Moves {
        fileprivate let entries: SortedEntries

        /// The next moves; empty at the end.
        func next(_ limit: Int, of clientID: ClientID) throws -> [VaultRemap] {
            var group: [VaultRemap] = []
            while group.count < limit, let entry = try entries.next() {
                let ids = entry.key.split(separator: 0, maxSplits: 1).compactMap {
                    try? VaultUser(clientID, validating: String(decoding: $0, as: UTF8.self))
                }
                guard ids.count == 2 else { throw entries.damaged }
                group.append(VaultRemap(ids[0], to: ids[1].userID))
            }
            return group
        }
    }
}

/// The ids of a remapping under which several users would meet; takes ids in their order.
private struct MoveConflicts {
    private var id: [UInt8] = []
    private var olds: [[UInt8]] = []
    private var news: [[UInt8]] = []
    private var named: [String] = []
    private var count = 0

    /// - Parameter other: the old id of a new one, or the new id of an old one.
    mutating func take(_ id: [UInt8], isNew: Bool, _ other: [UInt8]) {
        if id != self.id {
            finish()
            (self.id, olds, news) = (id, [], [])
        }
        if isNew {
            if olds.last != other { olds.append(other) }
        } else if news.last != other {
            news.append(other)
        }
    }

    private mutating func finish() {
        if olds.count > 1 {
            add("\(text(olds)) would all become \(text(id))")
        }
        if news.count > 1 {
            add("\(text(id)) would become \(text(news))")
        } else if let new = news.first, let old = olds.first, old != id || new != id {
            add("\(text(olds)) would become \(text(id)), which would become \(text(new))")
        }
    }

    private mutating func add(_ conflict: String) {
        count += 1
        if named.count < Self.mostNamed { named.append(conflict) }
    }

    private func text(_ id: [UInt8]) -> String { "'\(escaped(id))'" }

    private func text(_ ids: [[UInt8]]) -> String {
        ids.prefix(3).map { text($0) }.joined(separator: " and ")
            + (ids.count > 3 ? " and \(ids.count - 3) more" : "")
    }

    /// - Throws: ``Diagnosis`` if there are any.
    mutating func check() throws(Diagnosis) {
        finish()
        guard count > 0 else { return }
        let more = count > named.count ? ["and \(count - named.count) more"] : []
        throw Diagnosis.negative(
            .idsMeet,
            "tokens of several users would meet under \(count == 1 ? "one id" : "\(count) ids"); "
                + "nothing was moved",
            hints: named + more + ["remove or correct these lines, then run it again"])
    }

    private static let mostNamed = 20
}
