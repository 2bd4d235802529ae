internal import SIWACrypto
internal import SignInWithApple
internal import Synchronization

/// The records that a batch holds: claimed a few at a time, given out one by one, and noted in the
/// vault before their results are written.
///
/// The database is asked by a task of its own: whoever sends must not wait for a disk.
final class ClaimedItems: Sendable {
    private let claim: VaultClaim
    private let clocks: Clocks
    private let output: BatchOutput
    private let bell: FeedBell
    private let noted: @Sendable () -> Void
    private let news = News()
    private let state: Mutex<State>

    private struct State {
        /// What opens records.
        var vault: Vault
        /// The items that were not given out yet.
        var ready: ArraySlice<TokenItem> = []
        /// The records that are claimed and not finished, by the number of their line.
        var held: [Int: Held] = [:]
        /// When their leases are renewed next.
        var renewal = Duration.zero
        var finished: [Finished] = []
        var nextLine: Int
        var isExhausted = false
        var isClosed = false
        /// Whether what is finished has waited long enough for company.
        var isDue = false
        var isTicking = false
        var failure: VaultError?
    }

    fileprivate struct Held {
        let record: VaultRecord
        /// When it may not be sent any more: others may claim it soon.
        var deadline: Duration
    }

    fileprivate struct Finished {
        let line: Int
        /// Nil for a damaged row.
        let record: VaultRecord?
        let event: NotedEvent?
        let report: ItemReport
    }

    /// - Parameters:
    ///   - line: the number of the last line there is.
    ///   - noted: called when results were written.
    init(
        _ claim: VaultClaim, after line: Int, _ clocks: Clocks, _ output: BatchOutput,
        _ bell: FeedBell, noted: @escaping @Sendable () -> Void
    ) {
        (self.claim, self.clocks, self.output) = (claim, clocks, output)
        (self.bell, self.noted) = (bell, noted)
        state = Mutex(State(vault: claim.vault, nextLine: line + 1))
    }

    /// Why the vault could not be asked any more; nil while all is well.
    var failure: VaultError? { state.withLock { $0.failure } }

    /// The next item, if there is one; see ``BatchRun``.
    func next() -> BatchInput<TokenItem> {
        guard !output.isFull else { return .notYet }
        let now = clocks.timekeeper.elapsed()
        let input: BatchInput<TokenItem> = state.withLock { state in
            guard state.failure == nil else { return .end }
            while let item = state.ready.popFirst() {
                if let held = state.held[item.line], held.deadline > now { return .item(item) }
                finish(item, nil, ItemReport.late.identifying(item.fingerprint), &state)
            }
            return state.isExhausted ? .end : .notYet
        }
        news.ring()
        return input
    }

    /// Takes the result of an item; it is written once the vault has noted it.
    func finish(_ item: TokenItem, _ event: NotedEvent?, _ report: ItemReport) {
        state.withLock { finish(item, event, report, &$0) }
        news.ring()
    }

    private func finish(
        _ item: TokenItem, _ event: NotedEvent?, _ report: ItemReport, _ state: inout State
    ) {
        guard let held = state.held.removeValue(forKey: item.line) else { return }
        state.finished.append(
            Finished(line: item.line, record: held.record, event: event, report: report))
    }

    /// When an item may not be sent any more; see ``BatchRun``. Half of what remains of its lease
    /// is kept for requests in flight.
    func deadline(of item: TokenItem) -> Duration {
        state.withLock { $0.held[item.line]?.deadline ?? .zero }
    }

    /// Nothing more will be asked for, nor finished.
    func close() {
        state.withLock { $0.isClosed = true }
        news.ring()
    }

    /// Claims and notes, until everything is noted after ``close()``.
    func work() async {
        let clock = Task { [news, lease = claim.lease] in
            while (try? await Task.sleep(for: lease.duration / 8)) != nil { news.ring() }
        }
        defer { clock.cancel() }
        while true {
            let seen = news.count
            do throws(VaultError) {
                try renewLeases()
                if try !noteFinished(), try !claimMore() {
                    guard !state.withLock({ $0.isClosed }) else { return try giveBack() }
                    tick()
                    await news.next(after: seen)
                }
            } catch {
                state.withLock { $0.failure = error }
                bell.ring()
                return
            }
        }
    }

    /// False when there is nothing to note yet. A transaction costs a disk as much for one record
    /// as for many, and other processes wait meanwhile: results wait a moment for company.
    private func noteFinished() throws(VaultError) -> Bool {
        let group: [Finished] = state.withLock { state in
            guard isWorthwhile(state) else { return [] }
            defer { (state.finished, state.isDue) = ([], false) }
            return state.finished
        }
        guard !group.isEmpty else { return false }
        try claim.vault.note(
            group.compactMap { item in
                item.record.map {
                    VaultNote($0, item.event?.event, item.event?.details ?? VaultEventDetails())
                }
            },
            releasedBy: claim.lease.owner, at: clocks.now())
        for item in group {
            output.write(line: item.line, id: item.record?.resultID, item.report)
        }
        noted()
        return true
    }

    /// Keeps what is waiting, in flight, or held by the brake from others for longer. What others
    /// have claimed all the same is not sent any more.
    private func renewLeases() throws(VaultError) {
        let now = clocks.timekeeper.elapsed()
        let due: [Int: VaultRecordID] = state.withLock { state in
            guard now >= state.renewal, !state.isClosed else { return [:] }
            return state.held.mapValues(\.record.id)
        }
        guard !due.isEmpty else { return }
        let renewed = try claim.vault.store.renew(Array(due.values), for: claim.lease)
        state.withLock { state in
            state.renewal = now + claim.lease.duration / 4
            for (line, id) in due {
                state.held[line]?.deadline =
                    renewed.held.contains(id) ? now + renewed.remaining / 2 : .zero
            }
        }
    }

    /// Lets others have at once what did not come to an end.
    private func giveBack() throws(VaultError) {
        let left = state.withLock { state in
            defer { (state.ready, state.held) = ([], [:]) }
            return state.held.values.map(\.record)
        }
        guard !left.isEmpty else { return }
        try claim.vault.note(
            left.map { VaultNote($0, nil) }, releasedBy: claim.lease.owner,
            at: clocks.now())
    }

    private func isWorthwhile(_ state: State) -> Bool {
        let othersFollow = !state.isClosed && !state.held.isEmpty
        return !othersFollow || state.isDue || state.finished.count >= claim.size / 2
    }

    /// After a moment, what is finished is due, however little it is.
    private func tick() {
        let starts = state.withLock { state in
            guard !state.finished.isEmpty, !state.isTicking else { return false }
            state.isTicking = true
            return true
        }
        guard starts else { return }
        Task {
            try? await Task.sleep(for: .milliseconds(50))
            state.withLock { ($0.isTicking, $0.isDue) = (false, true) }
            news.ring()
        }
    }

    /// False when there is enough, or no more.
    private func claimMore() throws(VaultError) -> Bool {
        let isWanted = state.withLock { state in
            !state.isExhausted && !state.isClosed && state.ready.count <= claim.size / 2
        }
        guard isWanted else { return false }
        let now = clocks.timekeeper.elapsed()
        let date = clocks.now()
        let claimed = try state.withLock { $0.vault }.claim(
            claim.filter, limit: claim.size, for: claim.lease, intent: claim.intent, at: date)
        let records = claimed.records
        let vault = state.withLock { $0.vault }.renewed(for: records, claim.keys)
        state.withLock { state in
            state.vault = vault
            if claimed.isEmpty { state.isExhausted = true }
            for row in claimed.damaged { report(row, &state) }
            if state.held.isEmpty { state.renewal = now + claim.lease.duration / 4 }
            for record in records { hold(record, until: now + claimed.remaining / 2, &state) }
        }
        bell.ring()
        return true
    }

    private func report(_ row: DamagedRecord, _ state: inout State) {
        state.finished.append(
            Finished(
                line: state.nextLine, record: nil, event: nil,
                report: ItemReport(
                    .invalid, .settings, [.error("vault", printable(row.error.message))])))
        state.nextLine += 1
    }

    private func hold(_ record: VaultRecord, until deadline: Duration, _ state: inout State) {
        let line = state.nextLine
        state.nextLine += 1
        do throws(VaultError) {
            let item = TokenItem(
                try state.vault.token(of: record), line: line, id: record.resultID,
                clientID: record.user.clientID,
                isInDoubt: record.state == .revoking && claim.intent == .revocationBegun)
            state.ready.append(item)
            state.held[line] = Held(record: record, deadline: deadline)
        } catch {
            state.finished.append(
                Finished(
                    line: line, record: record, event: nil,
                    report: ItemReport(
                        .invalid, .settings, [.error("vault", printable(error.message))])))
        }
    }
}

/// What an answer means for a record, and how it is known.
struct NotedEvent: Sendable {
    let event: VaultEvent
    let details: VaultEventDetails
}

extension VaultRecord {
    /// What a result calls it.
    fileprivate var resultID: JSON { .string(user.userID.rawValue) }
}
