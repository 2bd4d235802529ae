internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// The pairs of ids of a plan, staged on disk, and what is wrong with the lines they come from.
struct MigrationPlan {
    private let member: MatchedMember
    private var moves: StagedMoves
    private var digest = [UInt8](repeating: 0, count: 32)
    private var invalid = InvalidLines()
    /// Lines whose status is not `done`.
    private(set) var skipped = 0
    /// Users whose id stays the same.
    private(set) var unchanged = 0

    init(matching member: MatchedMember, in world: World) {
        self.member = member
        moves = StagedMoves(world.streams.sort)
    }

    /// The number of pairs.
    var count: Int { moves.count - unchanged }

    mutating func take(_ line: InputLine) throws {
        if let bytes = line.bytes, bytes.isBlank { return }
        var move: PlannedMove?
        do throws(InvalidLine) {
            guard let bytes = line.bytes else { throw .tooLong }
            move = try PlannedMove(importResult: bytes, matching: member)
            if move == nil { skipped += 1 }
        } catch {
            invalid.add(line.number, error)
        }
        guard let move else { return }
        if move.oldID == move.newID { unchanged += 1 }
        let address = move.address ?? ""
        try moves.add(move.oldID, to: move.newID, Array(address.utf8))
        // The same for any order of the lines.
        let part = try SHA256.digest("\(move.oldID) \(move.newID) \(address)")
        for index in digest.indices { digest[index] ^= part[index] }
    }

    /// - Throws: ``Diagnosis`` if a line cannot be used, if ids meet, or if there is nothing to do.
    func check() throws {
        try invalid.check("usable, and no script was written", remedy: "correct the input")
        try moves.checkConflicts(of: "users", "no script was written", refusesRepeats: true)
        guard count > 0 else {
            throw Diagnosis.negative(
                .noUsers, "the input has no user with a new id; no script was written",
                hints: ["use the output of 'siwa migrate import' as the input"])
        }
    }

    /// Twelve hex digits that stand for the pairs and the places that they change.
    func digest(for recipe: MigrationRecipe, _ dialect: ScriptDialect) throws -> String {
        let places = recipe.places.map(\.name).joined(separator: " ")
        let text = "\(digest.hexadecimal) \(dialect.rawValue) \(recipe.provider) \(places)"
        return String(try SHA256.digest(text).hexadecimal.prefix(12))
    }

    /// Writes the statements with the pairs.
    func writePairs(_ script: PlanScript, to output: StreamingOutput, _ ending: Ending) async throws
    {
        let moves = try moves.inOrder()
        var rows: [String] = []
        var number = 0
        while let move = try moves.next() {
            if move.old == move.new { continue }
            number += 1
            let address =
                move.value.isEmpty ? "NULL" : "'\(String(decoding: move.value, as: UTF8.self))'"
            rows.append("(\(number),'\(move.old)','\(move.new)',\(address))")
            guard rows.count == Self.rowsPerStatement else { continue }
            try await output.write(Array(script.insert(rows).utf8))
            rows.removeAll(keepingCapacity: true)
            try ending.checkSignal()
        }
        if !rows.isEmpty { try await output.write(Array(script.insert(rows).utf8)) }
    }

    private static let rowsPerStatement = 1000
}
