internal import SIWAApplication
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// The moves of users from one id to another, sorted before the first is made: users who would meet
/// under one id must be found while nothing is moved yet.
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
        try add(move.user.userID.rawValue, to: move.newUserID.rawValue)
    }

    /// - Parameter value: what belongs to the move.
    mutating func add(_ oldID: String, to newID: String, _ value: [UInt8] = []) throws {
        let (old, new) = (oldID.utf8, newID.utf8)
        count += 1
        try moves.add(Array(old) + [0] + Array(new), value)
        // A user who keeps the id meets nobody but those who get it.
        try roles.add(Array(new) + [0, Role.new.rawValue] + Array(old), [])
        guard !old.elementsEqual(new) else { return }
        try roles.add(Array(old) + [0, Role.old.rawValue] + Array(new), [])
    }

    /// - Parameters:
    ///   - who: who would meet.
    ///   - outcome: what was not done.
    ///   - refusesRepeats: whether two equal moves are a conflict.
    /// - Throws: ``Diagnosis`` that names ids under which several users would meet.
    func checkConflicts(
        of who: String = "tokens of several users", _ outcome: String = "nothing was moved",
        refusesRepeats: Bool = false
    ) throws {
        var conflicts = MoveConflicts(refusesRepeats: refusesRepeats)
        let entries = try roles.sorted()
        while let entry = try entries.next() {
            guard let end = entry.key.firstIndex(of: 0), entry.key.count > end + 1,
                let role = Role(rawValue: entry.key[end + 1])
            else { throw entries.damaged }
            let other = entry.key[(end + 2)...]
            conflicts.take(Array(entry.key[..<end]), isNew: role == .new, Array(other))
        }
        try conflicts.check(who, outcome)
    }

    /// The moves in the order of the old ids.
    func inOrder() throws -> Moves { Moves(entries: try moves.sorted()) }

    /// Moves, read in groups.
    struct Moves {
        fileprivate let entries: SortedEntries

        /// The next move, with the value that was added with it; nil at the end.
        func next() throws -> (old: String, new: String, value: [UInt8])? {
            guard let entry = try entries.next() else { return nil }
            guard let end = entry.key.firstIndex(of: 0) else { throw entries.damaged }
            return (
                String(decoding: entry.key[..<end], as: UTF8.self),
                String(decoding: entry.key[(end + 1)...], as: UTF8.self), entry.value
            )
        }

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

/// The ids under which several users would meet; takes ids in their order.
private struct MoveConflicts {
    let refusesRepeats: Bool
    private var id: [UInt8] = []
    private var olds: [[UInt8]] = []
    private var news: [[UInt8]] = []
    private var named: [String] = []
    private var count = 0

    init(refusesRepeats: Bool) { self.refusesRepeats = refusesRepeats }

    /// - Parameter other: the old id of a new one, or the new id of an old one.
    mutating func take(_ id: [UInt8], isNew: Bool, _ other: [UInt8]) {
        if id != self.id {
            finish()
            (self.id, olds, news) = (id, [], [])
        }
        if isNew {
            if refusesRepeats || olds.last != other { olds.append(other) }
        } else if refusesRepeats || news.last != other {
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
    mutating func check(_ who: String, _ outcome: String) throws(Diagnosis) {
        finish()
        guard count > 0 else { return }
        let more = count > named.count ? ["and \(count - named.count) more"] : []
        throw Diagnosis.negative(
            .idsMeet,
            "\(who) would meet under \(count == 1 ? "one id" : "\(count) ids"); \(outcome)",
            hints: named + more + ["remove or correct these lines, then run it again"])
    }

    private static let mostNamed = 20
}
