internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// Runs a batch from its input to its summary: what every `siwa batch` and `siwa migrate`
/// shares.
struct BatchRunner: Sendable {
    let session: Session
    let options: BatchOptions
    /// What was asked of Apple.
    let request: RequestKind
    /// What its results bear.
    let mark: ResultMark
    /// What hints may draw on when Apple refuses.
    let situation: @Sendable (TokenFailure) -> Situation
    /// How the line of an item is laid out.
    var layout: BatchLayout = standardLayout
    /// When refusals are believed.
    var brake = RefusalBrake.Rule.afterSuccess
    /// What it means when all items were refused, where it means more than one by one.
    var allRefused: [String] = []

    var world: World { session.world }

    init(
        _ session: Session, _ options: BatchOptions, request: RequestKind, mark: ResultMark,
        needsInput: Bool = true,
        situation: @escaping @Sendable (TokenFailure) -> Situation
    ) throws {
        guard (1...Self.mostInFlight).contains(options.concurrency) else {
            throw UsageError.Problem.misuse(
                "--concurrency must be between 1 and \(Self.mostInFlight)",
                hint: "16 is enough for most; Apple throttles whoever presses")
        }
        try options.check(needsInput: needsInput)
        self.session = session
        self.options = options
        self.request = request
        self.mark = mark
        self.situation = situation
    }

    /// Runs `job` over the input and writes a line for every item.
    ///
    /// - Parameters:
    ///   - read: makes an item of a line.
    ///   - resuming: tells the job that an earlier run had items done.
    ///   - describe: what the line of an answered item says.
    func run<Job: BatchJob>(
        _ job: Job,
        read:
            @escaping @Sendable (SecretBytes, Int) throws(InvalidLine) -> (
                item: Job.Item, id: JSON?
            ),
        resuming: (inout Job) -> Void = { _ in },
        describe: @escaping @Sendable (Job.Item, Job.Outcome) -> ItemReport
    ) async throws where Job.Item: NumberedItem {
        try session.checkNothingIsPicked()
        let bell = FeedBell()
        let opened = try await OpenedBatch(options, mark, layout, in: world, news: bell.ring) {
            line, number throws(InvalidLine) in
            let (item, id) = try read(line, number)
            return BatchItemName(id: id, fingerprint: { item.fingerprint })
        }
        var job = job
        if opened.before.done > 0 { resuming(&job) }
        let input = BatchInputLines(opened.lines, opened.resumed, opened.output, read: read)
        let progress = BatchProgress(opened.output, world, isQuiet: session.options.isQuiet) {
            opened.lines.expectedLines.map { $0 - opened.before.total }
        }
        let end: Diagnosis?
        do {
            end = try await carry(job, bell, to: opened.output, from: input.next) { item, result in
                opened.output.write(
                    line: item.line, id: item.id, report(of: item, result, describe))
                progress.update()
            }
        } catch {
            // What was finished is worth more than a second error.
            try? opened.output.close()
            throw error
        }
        try BatchConclusion(
            session: session, options: options, output: opened.output, progress: progress,
            before: opened.before, inputFailure: input.failure,
            allRefused: allRefused
        ).end(stoppedBy: end ?? input.idFailure.map { Diagnosis($0) })
    }

    /// Runs `job` over records of a vault, and writes a line for every one.
    ///
    /// - Parameters:
    ///   - event: what an answer means for the record; nil when nothing.
    ///   - describe: what the line of an answered item says.
    func run<Job: BatchJob>(
        _ job: Job, claiming claim: VaultClaim,
        event: @escaping @Sendable (Job.Outcome) -> NotedEvent?,
        describe: @escaping @Sendable (Job.Item, Job.Outcome) -> ItemReport
    ) async throws where Job.Item == TokenItem {
        try session.checkNothingIsPicked()
        let bell = FeedBell()
        let (output, linesBefore) = try OpenedBatch.output(options, in: world, news: bell.ring)
        // How many there are, others decide as well.
        let progress = BatchProgress(output, world, isQuiet: session.options.isQuiet) { nil }
        let items = ClaimedItems(
            claim, after: linesBefore, world.clocks, output, bell, noted: progress.update)
        let working = Task(executorPreference: globalConcurrentExecutor) { await items.work() }
        let ended: Result<Diagnosis?, any Error>
        do {
            let end = try await carry(
                job, bell, to: output, deadline: items.deadline, from: items.next
            ) { item, result in
                let event: NotedEvent? =
                    if case .answered(let outcome) = result { event(outcome) } else { nil }
                items.finish(item, event, report(of: item, result, describe))
            }
            ended = .success(end)
        } catch {
            ended = .failure(error)
        }
        items.close()
        await working.value
        try BatchConclusion(
            session: session, options: options, output: output, progress: progress,
            before: BatchCounts(), inputFailure: nil, goOn: BatchStopped.vaultGoesOn,
            leased: leasedByOthers(claim)
        ).end(stoppedBy: try ended.get() ?? items.failure.map { Diagnosis($0) })
    }

    /// The records that this run did not get because others hold them; nil when the vault cannot
    /// be asked.
    private func leasedByOthers(_ claim: VaultClaim) -> (count: Int, until: NumericDate)? {
        do throws(VaultError) {
            let leased = try claim.vault.store.leasedByOthers(
                than: claim.lease.owner, claim.filter)
            return (leased.count, world.clocks.now() + leased.remaining)
        } catch {
            // That is said by the error of the run, or is of no importance after its end.
            return nil
        }
    }

    /// What the line of an item says of its result.
    private func report<Item: NumberedItem, Outcome>(
        of item: Item, _ result: BatchResult<Outcome>,
        _ describe: (Item, Outcome) -> ItemReport
    ) -> ItemReport {
        switch result {
        case .answered(let outcome): describe(item, outcome)
        case .failed(let cause, let attempts):
            ItemReport(failed: cause, attempts, request).identifying(item.fingerprint)
        case .late: ItemReport.late.identifying(item.fingerprint)
        }
    }

    /// Carries a run to its end; answers why that came before its input's.
    private func carry<Job: BatchJob>(
        _ job: Job, _ bell: FeedBell, to output: BatchOutput,
        deadline: (@Sendable (Job.Item) -> Duration)? = nil,
        from source: @escaping @Sendable () -> BatchInput<Job.Item>,
        sink: @escaping @Sendable (Job.Item, BatchResult<Job.Outcome>) -> Void
    ) async throws -> Diagnosis? {
        let run = BatchRun(
            job, settings: try settings(stoppingWith: output), calendar: world.clocks.now,
            deadline: deadline, source: source, sink: sink)
        guard session.options.isVerbose else {
            return diagnosis(of: try await carry(run, bell).end)
        }
        let traced = TracedFeed(run, trace: session.console.trace)
        return diagnosis(of: try await carry(traced, bell).base.end)
    }

    private func settings(stoppingWith output: BatchOutput) throws -> BatchSettings {
        BatchSettings(
            concurrency: options.concurrency, rate: options.rate?.perSecond,
            maxAttempts: try session.settings.maxAttempts(),
            timeout: try session.settings.timeout(), brake: brake,
            warnOfSilence: { [console = session.console] length in
                console.warn("Apple has answered nothing usable for \(length.inMinutes); trying on")
            },
            isStopping: { [world] in
                world.streams.wishedSignal() != nil || output.failure != nil
            })
    }

    private func carry<Feed: RequestFeed>(_ feed: Feed, _ bell: FeedBell) async throws -> Feed {
        let settings = World.TransportSettings(
            authorityFile: try session.settings.authorityFile(in: world)?.path,
            variables: world.variables)
        do throws(TransportError) {
            let transport = try world.transport(settings)
            let width = options.concurrency + 1
            let timekeeper = world.clocks.timekeeper
            guard let carrier = transport as? any FeedTransport else {
                return try await carryByTasks(transport, feed, width, bell)
            }
            return try await carrier.carry(feed, width: width, bell: bell, timekeeper: timekeeper)
        } catch {
            throw RequestError(
                failure: TokenFailure(cause: .unreachable(error), request: request, attempts: 1),
                situation: nil)
        }
    }

    private func carryByTasks<Feed: RequestFeed>(
        _ transport: some Transport, _ feed: Feed, _ width: Int, _ bell: FeedBell
    ) async throws(TransportError) -> Feed {
        try await FeedCarrier(transport).carry(
            feed, width: width, bell: bell, timekeeper: world.clocks.timekeeper)
    }

    /// Why a run ended before its input did.
    private func diagnosis(of end: BatchEnd) -> Diagnosis? {
        switch end {
        case .completed, .interrupted: return nil
        case .stopped(let cause), .gaveUp(let cause):
            let failure = TokenFailure(cause: cause, request: request, attempts: 1)
            return Diagnosis(RequestError(failure: failure, situation: situation(failure)))
        case .tooManyRefused(let refused, let count):
            return Diagnosis(
                "too_many_refused",
                "Apple refused \(refused) of the last \(count) items; the run was stopped, and "
                    + "recent refusals were neither written nor noted",
                hints: [
                    "check client_id, profile and input, and developer.apple.com/system-status",
                    "if the items are really that bad, set --max-refused higher (100 never stops)",
                ], exitCode: .tooManyRefused)
        case .askedToWait(let wait):
            return Diagnosis(
                "throttled", "Apple asks for a wait of \(wait.inSeconds)", hints: [],
                exitCode: .temporary)
        }
    }

    private static let mostInFlight = 1000
}

/// An item that its result can be found by.
protocol NumberedItem: Sendable {
    var line: Int { get }
    var id: JSON? { get }
    /// The fingerprint of its token; nil for an item without one.
    var fingerprint: String? { get }
}

extension TokenItem: NumberedItem {
    var fingerprint: String? { token.fingerprint }
}

extension IdentityTokenItem: NumberedItem {
    var fingerprint: String? { token.fingerprint }
}

extension BatchItemName {
    init(_ item: some NumberedItem) {
        self.init(id: item.id, fingerprint: { item.fingerprint })
    }
}

/// What the line of an item says besides its number.
struct ItemReport: Sendable {
    let status: BatchStatus
    let exitCode: ExitCode
    let members: [JSON.Member]

    init(_ status: BatchStatus, _ exitCode: ExitCode, _ members: [JSON.Member]) {
        (self.status, self.exitCode, self.members) = (status, exitCode, members)
    }

    /// Apple said no to the item.
    init(refused refusal: AppleError, _ request: RequestKind) {
        self.init(.refused, TokenFailure(cause: .refused(refusal), request: request, attempts: 1))
    }

    /// The same, with the fingerprint of the item's token in front.
    func identifying(_ fingerprint: String?) -> Self {
        guard let fingerprint else { return self }
        return Self(
            status, exitCode, [.init("token_fingerprint", .string(fingerprint))] + members)
    }

    init(failed cause: TokenFailure.Cause, _ attempts: Int, _ request: RequestKind) {
        self.init(.failed, TokenFailure(cause: cause, request: request, attempts: attempts))
    }

    /// Another run may have claimed the record.
    static let late = Self(
        .failed, .temporary,
        [.error("too_late", "it was not sent: its lease ended, and another run may have it")])

    /// A line an item has no room for advice.
    private init(_ status: BatchStatus, _ failure: TokenFailure) {
        let diagnosis = Diagnosis(RequestError(failure: failure, situation: nil))
        let error = diagnosis.json["error"]?.members ?? []
        self.init(
            status, diagnosis.exitCode,
            [
                .init(
                    "error",
                    .object(error.filter { !["hints", "exit_code"].contains($0.name) }))
            ])
    }
}
