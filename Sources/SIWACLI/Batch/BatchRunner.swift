internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// Runs a batch from its input to its summary, for every `siwa batch` and `siwa migrate`.
struct BatchRunner: Sendable {
    let requests: Requests
    let options: BatchOptions
    let request: RequestKind
    /// The member that marks its results.
    let mark: ResultMark
    /// Whose results they are; named in each.
    let origin: BatchOrigin
    /// The order of the members of a result.
    var layout = BatchLayout.standard
    /// When refusals are final.
    var brake = RefusalBrake.Rule.afterSuccess
    /// Further hints for a run in which every item was refused.
    var allRefused: [String] = []

    var session: Session { requests.session }
    var world: World { session.world }

    init(
        _ requests: Requests, _ options: BatchOptions, request: RequestKind, mark: ResultMark,
        _ origin: BatchOrigin, needsInput: Bool = true
    ) throws {
        guard (1...Self.mostInFlight).contains(options.concurrency) else {
            throw UsageError.Problem.misuse(
                "--concurrency must be between 1 and \(Self.mostInFlight)",
                hint: "16 is enough for most; Apple throttles faster clients")
        }
        try options.check(needsInput: needsInput)
        self.requests = requests
        self.options = options
        self.request = request
        self.mark = mark
        self.origin = origin
    }

    /// Runs `job` over the input and writes a line for every item.
    ///
    /// - Parameters:
    ///   - read: reads an item from a line.
    ///   - resuming: tells the job that an earlier run did some items.
    ///   - describe: returns the result for the line of an answered item.
    func run<Job: BatchJob>(
        _ job: Job,
        read: @escaping ItemReading<Job.Item>,
        resuming: (inout Job) -> Void = { _ in },
        describe: @escaping @Sendable (Job.Item, Job.Outcome) -> ItemReport
    ) async throws where Job.Item: NumberedItem {
        try session.checkNothingIsPicked()
        let wake = world.wakeSignal()
        let opened = try await OpenedBatch(options, mark, origin, session, layout, wake: wake) {
            line, number throws(InvalidLine) in try read(line, number)
        }
        var job = job
        if opened.before.done > 0 { resuming(&job) }
        let input = BatchInputLines(
            opened.lines, opened.resumed, opened.output, holdsUnusual: !options.isAllowingUnusual,
            read: read)
        let progress = Progress(.results(opened.output), world, isQuiet: session.options.isQuiet) {
            opened.lines.expectedLines.map { $0 - opened.before.total }
        }
        let end: Diagnosis?
        do {
            end = try await carry(job, wake, to: opened.output, from: input.next) { item, result in
                opened.output.write(
                    line: item.line, item.name, report(of: item, result, describe))
                progress.update()
            }
        } catch {
            // The results are still written; a second error would hide the first.
            try? opened.output.close()
            throw error
        }
        try BatchConclusion(
            session: session, options: options, output: opened.output, progress: progress,
            before: opened.before, inputFailure: input.failure,
            allRefused: allRefused, unusual: input.unusual.shapes.unusual
        ).end(
            stoppedBy: end ?? input.idFailure.map { Diagnosis($0) }
                ?? Diagnosis(stopping: input.unusual))
    }

    /// Runs `job` over records of a vault, and writes a line for every one.
    ///
    /// - Parameters:
    ///   - event: returns the event that an answer is for the record; nil for no change.
    ///   - describe: returns the result for the line of an answered item.
    func run<Job: BatchJob>(
        _ job: Job, claiming claim: VaultClaim,
        event: @escaping @Sendable (Job.Outcome) -> NotedEvent?,
        describe: @escaping @Sendable (Job.Item, Job.Outcome) -> ItemReport
    ) async throws where Job.Item == TokenItem {
        try session.checkNothingIsPicked()
        let wake = world.wakeSignal()
        let (output, linesBefore) = try OpenedBatch.output(options, mark, session, wake: wake)
        let progress = try progress(claim, output)
        let items = LeasedItems(
            claim, after: linesBefore, world.clocks, leasedOutput(output, progress),
            unsentReports, wake)
        let working = Task(executorPreference: try world.threads(1)) { await items.work() }
        let ended: Result<Diagnosis?, any Error>
        do {
            let end = try await carry(
                job, wake, to: output, deadline: items.deadline, from: items.next
            ) { item, result in
                let event: NotedEvent? =
                    if case .answered(let outcome) = result { event(outcome) } else { nil }
                items.finish(item, event, report(of: item, result, describe))
            }
            ended = .success(end)
        } catch {
            ended = .failure(error)
        }
        world.ending.begin(.noting)
        items.close()
        await working.value
        try BatchConclusion(
            session: session, options: options, output: output, progress: progress,
            before: BatchCounts(), inputFailure: nil, continuation: BatchStopped.vaultContinuation,
            leased: leasedByOthers(claim)
        ).end(stoppedBy: try ended.get() ?? items.failure.map { Diagnosis($0) })
    }

    /// The progress over a vault. The total is that of the records at the start, which other runs may
    /// lease too; it is unknown if the filter looks into records.
    private func progress(_ claim: VaultClaim, _ output: BatchOutput) throws -> Progress {
        let isQuiet = session.options.isQuiet
        let isShown = !isQuiet && world.streams.progress != nil
        let total = isShown ? try claim.expected(at: world.clocks.now()) : nil
        return Progress(.results(output), world, isQuiet: isQuiet, isTotal: true) { total }
    }

    private func leasedOutput(
        _ output: BatchOutput, _ progress: Progress
    ) -> LeasedOutput<ItemReport> {
        LeasedOutput(
            isFull: { output.isFull },
            write: { results in
                for result in results {
                    output.write(
                        line: result.line, ItemName(id: result.record?.resultID), result.report)
                }
                progress.update()
            }, note: session.console.note, warn: session.console.warn)
    }

    private var unsentReports: UnsentReports<ItemReport> {
        UnsentReports(
            late: { [origin] item in
                ItemReport.late.identifying(item.fingerprint).naming(origin, item.clientID)
            },
            unreadable: { error in
                ItemReport(
                    .invalid, .settings, error: .error(.vault, printable(error.message)))
            })
    }

    /// The records that other runs have leased; nil if the vault cannot be read.
    private func leasedByOthers(_ claim: VaultClaim) -> (count: Int, until: NumericDate)? {
        do throws(StoreError) {
            let leased = try claim.leasedByOthers(at: world.clocks.now())
            return (leased.count, world.clocks.now() + leased.remaining)
        } catch {
            // If the run failed, it reports its own error.
            return nil
        }
    }

    private static let mostInFlight = 1000
}
