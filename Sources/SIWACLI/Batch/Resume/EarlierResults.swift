internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWASystem

/// The results that an output contains already, by the number of their line in the input. They are
/// kept on disk to limit memory.
struct EarlierResults: Sendable {
    /// The member that marks results of the command.
    let mark: ResultMark
    /// Whose results they must be; nil for results that belong to no client.
    let origin: BatchOrigin?
    private let makeSlots: @Sendable () throws(FileError) -> any SlotStore
    private var slots: (any SlotStore)?
    /// The first line of the output that is a result of another command.
    private(set) var foreign: Int?
    /// The first line of the input that has two results of different items.
    private(set) var contradictory: Int?
    /// The first line of the input with a result of another server or team.
    private(set) var different: (line: Int, difference: OriginDifference)?
    private(set) var clients = OriginClients()
    /// The highest number of a line with a result; 0 if there are no results.
    private(set) var lastLine = 0
    /// The counts of the lines.
    private(set) var counts = BatchCounts()
    /// Why results could not be kept; nil without an error.
    private(set) var failure: FileError?

    /// - Parameter slots: creates the storage on disk.
    init(
        of mark: ResultMark, _ origin: BatchOrigin?,
        slots: @escaping @Sendable () throws(FileError) -> any SlotStore
    ) {
        (self.mark, self.origin, makeSlots) = (mark, origin, slots)
    }

    /// The result of a line of the input; nil if it has none.
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
        if status != .invalid, different == nil {
            different = origin?.difference(in: result.json).map { (result.line, $0) }
        }
        do throws(FileError) {
            let item = self.result(in: result.json, status)
            try insert(result.line, item, status ?? .failed)
        } catch {
            failure = failure ?? error
        }
        return true
    }

    private mutating func result(in json: JSON, _ status: BatchStatus?) -> EarlierResult {
        guard status != .invalid else { return .invalid }
        let id: JSON? = if let id = json[mark.idName], id != .null { id } else { nil }
        let client = origin == nil ? 0 : clients.number(of: json["client_id"]?.string)
        return .item(
            ItemIdentity(
                id: id, fingerprint: json["token_fingerprint"]?.string, client: client))
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

    /// Whether another command wrote it; the errors of all commands look the same.
    func isForeign(to mark: ResultMark) -> Bool {
        ResultMark(in: json).map { $0 != mark } ?? false
    }

    /// A limit far above the lines of any input.
    private static let most = 1 << 32
}
