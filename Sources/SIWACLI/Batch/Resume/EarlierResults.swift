internal import JOSE
internal import LocalFiles
internal import SIWACrypto

/// The results that an output holds already, by the number of their line in the input: on disk,
/// so that a long output takes no more memory than a short one.
struct EarlierResults: Sendable {
    /// What results of the command bear.
    let mark: ResultMark
    private let makeSlots: @Sendable () throws(FileError) -> any SlotStore
    private var slots: (any SlotStore)?
    /// The first line of the output that is a result of another command.
    private(set) var foreign: Int?
    /// The first line of the input that has two results of different items.
    private(set) var contradictory: Int?
    /// The highest number of a line that has its result; 0 without any.
    private(set) var lastLine = 0
    /// How many lines ended how.
    private(set) var counts = BatchCounts()
    /// Why results could not be kept; nil while all is well.
    private(set) var failure: FileError?

    /// - Parameter slots: makes room on disk.
    init(
        of mark: ResultMark, slots: @escaping @Sendable () throws(FileError) -> any SlotStore
    ) {
        (self.mark, makeSlots) = (mark, slots)
    }

    /// The result of a line of the input; nil without one.
    ///
    /// - Throws: ``FileError``.
    func result(of line: Int) throws(FileError) -> EarlierResult? {
        try slots.flatMap { slots throws(FileError) in EarlierResult(slot: try slots.slot(line)) }
    }

    /// Takes a line of the output; false if it is not a result.
    mutating func insert(resultIn line: InputLine) -> Bool {
        guard let result = ResultLine(line) else { return false }
        if result.isForeign(to: mark) { foreign = foreign ?? line.number }
        let status = result.json["status"]?.string.flatMap(BatchStatus.init)
        do throws(FileError) {
            try insert(result.line, self.result(in: result.json, status), status ?? .failed)
        } catch {
            failure = failure ?? error
        }
        return true
    }

    private func result(in json: JSON, _ status: BatchStatus?) -> EarlierResult {
        guard status != .invalid else { return .invalid }
        let id: JSON? = if let id = json[mark.idName], id != .null { id } else { nil }
        return .item(ItemIdentity(id: id, fingerprint: json["token_fingerprint"]?.string))
    }

    private mutating func insert(
        _ line: Int, _ result: EarlierResult, _ status: BatchStatus
    ) throws(FileError) {
        let slots = if let slots { slots } else { try makeSlots() }
        self.slots = slots
        if let first = EarlierResult(slot: try slots.slot(line)) {
            if !first.agrees(with: result) { contradictory = contradictory ?? line }
            return
        }
        try slots.set(line, to: result.slot)
        lastLine = max(lastLine, line)
        counts.add(status)
    }
}

/// A line of an output that is a result.
struct ResultLine {
    let json: JSON
    /// The number of its line in the input.
    let line: Int

    /// Nil for a line that is not a result.
    init?(_ line: InputLine) {
        guard let bytes = line.bytes, let json = try? JSON(bytes.revealed()),
            let number = json["line"]?.integer, (1..<Self.most).contains(number)
        else { return nil }
        (self.json, self.line) = (json, number)
    }

    /// Whether another command wrote it; errors look the same from all of them.
    func isForeign(to mark: ResultMark) -> Bool {
        ResultMark(in: json).map { $0 != mark } ?? false
    }

    /// Far beyond any input; a number above it does not come from a batch.
    private static let most = 1 << 32
}
