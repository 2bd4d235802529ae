internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The records that a batch has leased: which items are ready, in flight, or finished and not yet
/// noted in the vault. A pure value: ``LeasedItems`` uses the database.
struct LeasedRecords: Sendable {
    /// A record that is leased and not finished.
    private struct Held: Sendable {
        let record: VaultRecord
        /// How long it may be sent; nil if others have leased it.
        var hold: VaultHold?
    }

    /// The result of a record.
    struct Finished: Sendable {
        let line: Int
        /// Nil for a damaged row.
        let record: VaultRecord?
        let event: NotedEvent?
        let report: ItemReport
    }

    /// The number of records to lease at once.
    private let size: Int
    /// Whose results they are.
    private let origin: BatchOrigin
    private var ready: ArraySlice<TokenItem> = []
    /// The held records by the number of their line.
    private var held: [Int: Held] = [:]
    /// Unreadable rows, which are leased until the end of the run.
    private var damaged: Set<VaultRowKey> = []
    private var finished: [Finished] = []
    private var nextLine: Int
    /// When leases are renewed next.
    private var renewal = Duration.zero
    private var isExhausted = false
    /// Whether no record is looked for until ``resume()``: leases of others are observed.
    private var isPaused = false
    private var isWaitingNoted = false
    private(set) var isClosed = false
    /// Whether the oldest finished result has waited long enough for others.
    private var isDue = false
    private var isTimed = false

    /// - Parameter line: the number of the last existing line.
    init(size: Int, after line: Int, _ origin: BatchOrigin) {
        (self.size, nextLine, self.origin) = (size, line + 1, origin)
    }

    /// The next item, if one is available.
    mutating func next(at now: Duration) -> BatchInput<TokenItem> {
        while let item = ready.popFirst() {
            if deadline(of: item) > now { return .item(item) }
            finish(
                item, nil,
                ItemReport.late.identifying(item.fingerprint).naming(origin, item.clientID))
        }
        return isExhausted ? .end : .notYet
    }

    /// The time after which an item must not be sent.
    func deadline(of item: TokenItem) -> Duration { held[item.line]?.hold?.deadline ?? .zero }

    /// Takes the result of an item.
    mutating func finish(_ item: TokenItem, _ event: NotedEvent?, _ report: ItemReport) {
        guard let held = held.removeValue(forKey: item.line) else { return }
        finished.append(
            Finished(line: item.line, record: held.record, event: event, report: report))
    }

    /// Notes that no more items will be finished.
    mutating func close() { isClosed = true }
}

// Leasing and renewing.
extension LeasedRecords {
    /// Whether more records should be leased.
    var isWantingMore: Bool {
        !isExhausted && !isClosed && !isPaused && ready.count <= size / 2
    }

    /// Notes that no record is free for now.
    mutating func pause() { isPaused = true }

    /// Looks for records again.
    mutating func resume() { isPaused = false }

    /// Notes that the run waits for leases of others; false if that was noted before.
    mutating func noteWaiting() -> Bool {
        defer { isWaitingNoted = true }
        return !isWaitingNoted
    }

    /// Notes that no record is left to lease.
    mutating func end() { isExhausted = true }

    /// Adds a record that was leased.
    ///
    /// - Parameters:
    ///   - item: creates the item from the number of its line; throws if it cannot be decrypted.
    ///   - hold: how long it may be sent.
    mutating func add(
        _ record: VaultRecord, for hold: VaultHold,
        item: (Int) throws(StoreError) -> TokenItem
    ) {
        do throws(StoreError) {
            ready.append(try item(nextLine))
            held[nextLine] = Held(record: record, hold: hold)
            nextLine += 1
        } catch {
            report(record, error)
        }
    }

    /// Adds a row that cannot be read.
    mutating func add(_ row: DamagedRecord) {
        damaged.insert(row.key)
        report(nil, row.error)
    }

    private mutating func report(_ record: VaultRecord?, _ error: StoreError) {
        let report = ItemReport(
            .invalid, .settings, error: .error(.vault, printable(error.message)))
        finished.append(Finished(line: nextLine, record: record, event: nil, report: report))
        nextLine += 1
    }

    /// Whether no record is held.
    var isEmpty: Bool { held.isEmpty }

    /// The records whose leases must be renewed now, by their lines.
    func dueForRenewal(at now: Duration) -> [Int: VaultRecordID] {
        guard now >= renewal, !isClosed else { return [:] }
        return held.mapValues(\.record.id)
    }

    /// Plans the next renewal.
    mutating func renewNext(at moment: Duration) { renewal = moment }

    /// The item that ``next(at:)`` returns, unless its deadline has passed.
    var upcoming: TokenItem? { ready.first }

    /// The records to ask the database about before an item is sent, by their lines: all that are
    /// held, so that many items that start at once need one answer.
    func doubtful(before item: TokenItem, at now: Duration) -> [Int: VaultRecordID] {
        guard held[item.line]?.hold?.isDoubtful(at: now) == true else { return [:] }
        return held.mapValues(\.record.id)
    }

    /// Takes the answer of the database. Records that others have leased are not sent.
    mutating func confirm(
        _ confirmed: Set<VaultRecordID>, of asked: [Int: VaultRecordID], at now: Duration
    ) {
        for (line, id) in asked {
            if confirmed.contains(id) {
                held[line]?.hold?.confirm(at: now)
            } else {
                held[line]?.hold = nil
            }
        }
    }

    /// Takes the outcome of a renewal. Records that others have leased are not sent.
    ///
    /// - Parameter hold: for the records that are still leased.
    mutating func take(
        _ renewed: VaultRenewal, of due: [Int: VaultRecordID], for hold: VaultHold
    ) {
        for (line, id) in due { held[line]?.hold = renewed.held.contains(id) ? hold : nil }
    }

    /// The records to release at the end: unfinished ones, and damaged rows.
    mutating func takeUnfinished() -> (records: [VaultRecord], damaged: Set<VaultRowKey>) {
        defer { (ready, held, damaged) = ([], [:], []) }
        return (held.values.map(\.record), damaged)
    }
}

// Noting in groups: a transaction takes as long for one record as for many, and other processes
// wait for it.
extension LeasedRecords {
    /// The finished records to note now; empty while more are expected soon.
    mutating func takeFinished() -> [Finished] {
        let othersFollow = !isClosed && !held.isEmpty
        guard !othersFollow || isDue || finished.count >= size / 2 else { return [] }
        defer { (finished, isDue) = ([], false) }
        return finished
    }

    /// Whether to start a timer, after which all finished records are due.
    mutating func startTimer() -> Bool {
        guard !finished.isEmpty, !isTimed else { return false }
        isTimed = true
        return true
    }

    /// Notes that the timer has ended.
    mutating func endTimer() { (isTimed, isDue) = (false, true) }
}
