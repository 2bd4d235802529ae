package import SIWALifecycle
package import SIWAVaultRecords

/// What a batch reports about records of a vault that it does not send.
package struct UnsentReports<Report: Sendable>: Sendable {
    let late: @Sendable (TokenItem) -> Report
    let unreadable: @Sendable (StoreError) -> Report

    /// - Parameters:
    ///   - late: the report of an item whose lease ended, so that another run may have it.
    ///   - unreadable: the report of a record that cannot be read.
    package init(
        late: @escaping @Sendable (TokenItem) -> Report,
        unreadable: @escaping @Sendable (StoreError) -> Report
    ) { (self.late, self.unreadable) = (late, unreadable) }
}

/// The result of a record.
package struct LeasedResult<Report: Sendable>: Sendable {
    /// The number of its item, from 1.
    package let line: Int
    /// Nil for a damaged row.
    package let record: VaultRecord?
    /// The change to the record; nil for no change.
    package let event: NotedEvent?
    /// What the batch reports.
    package let report: Report
}

/// The records that a batch has leased: which items are ready, in flight, or finished and not yet
/// noted in the vault. A pure value: ``LeasedItems`` uses the database.
struct LeasedRecords<Report: Sendable>: Sendable {
    /// A record that is leased and not finished.
    private struct Held: Sendable {
        let record: VaultRecord
        /// How long it may be sent; nil if others have leased it.
        var hold: VaultHold?
    }

    /// The number of records to lease at once.
    private let size: Int
    private let reports: UnsentReports<Report>
    private var ready: ArraySlice<TokenItem> = []
    /// The held records by the number of their line.
    private var held: [Int: Held] = [:]
    /// Unreadable rows, which are leased until the end of the run.
    private var damaged: Set<VaultRowKey> = []
    private var finished: [LeasedResult<Report>] = []
    private var nextLine: Int
    /// When leases are renewed next.
    private var renewal = Duration.zero
    private var isExhausted = false
    /// No record is looked for before this time; nil if one may be free now.
    private var pausedUntil: Duration?
    /// Whether the records that are left become due only later.
    private var isAwaiting = false
    private var isWaitingNoted = false
    private(set) var isClosed = false
    /// Whether the oldest finished result has waited long enough for others.
    private var isDue = false
    private var isTimed = false

    /// - Parameter line: the number of the last existing line.
    init(size: Int, after line: Int, _ reports: UnsentReports<Report>) {
        (self.size, nextLine, self.reports) = (size, line + 1, reports)
    }

    /// The next item, if one is available.
    mutating func next(at now: Duration) -> BatchInput<TokenItem> {
        while let item = ready.popFirst() {
            if deadline(of: item) > now { return .item(item) }
            finish(item, nil, reports.late(item))
        }
        return isExhausted ? .end : isAwaiting ? .pause : .notYet
    }

    /// The time after which an item must not be sent.
    func deadline(of item: TokenItem) -> Duration { held[item.line]?.hold?.deadline ?? .zero }

    /// Takes the result of an item.
    mutating func finish(_ item: TokenItem, _ event: NotedEvent?, _ report: Report) {
        guard let held = held.removeValue(forKey: item.line) else { return }
        finished.append(
            LeasedResult(line: item.line, record: held.record, event: event, report: report))
    }

    /// Notes that no more items will be finished.
    mutating func close() { isClosed = true }
}

// Leasing and renewing.
extension LeasedRecords {
    /// Whether more records should be leased.
    var isWantingMore: Bool {
        !isExhausted && !isClosed && pausedUntil == nil && ready.count <= size / 2
    }

    /// Notes that no record is free before a time.
    ///
    /// - Parameter isAwaiting: whether that may take long, because the others become due only later.
    mutating func pause(until moment: Duration, isAwaiting: Bool) {
        (pausedUntil, self.isAwaiting) = (moment, isAwaiting)
    }

    /// Looks for records again, if it is time.
    mutating func resume(at now: Duration) {
        if let pausedUntil, pausedUntil <= now { self.pausedUntil = nil }
    }

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
            isAwaiting = false
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
        finished.append(
            LeasedResult(
                line: nextLine, record: record, event: nil, report: reports.unreadable(error)))
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
    mutating func takeFinished() -> [LeasedResult<Report>] {
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
