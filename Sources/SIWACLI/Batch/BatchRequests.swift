internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

// Sending the requests of a batch.
extension BatchRunner {
    /// The result of an item for its line.
    func report<Item: NumberedItem, Outcome>(
        of item: Item, _ result: BatchResult<Outcome>,
        _ describe: (Item, Outcome) -> ItemReport
    ) -> ItemReport {
        let report =
            switch result {
            case .answered(let outcome): describe(item, outcome)
            case .failed(let cause, let attempts):
                ItemReport(failed: cause, attempts, request).identifying(item.fingerprint)
            case .late: ItemReport.late.identifying(item.fingerprint)
            }
        return report.naming(origin, item.clientID)
    }

    /// Runs `job` to its end.
    ///
    /// - Returns: why it ended before its input did; nil if it did not.
    func carry<Job: BatchJob>(
        _ job: Job, _ wake: WakeSignal, to output: BatchOutput,
        deadline: (@Sendable (Job.Item) -> Duration)? = nil,
        from source: @escaping @Sendable () -> BatchInput<Job.Item>,
        sink: @escaping @Sendable (Job.Item, BatchResult<Job.Outcome>) -> Void
    ) async throws -> Diagnosis? {
        let secrets = requests.secrets
        try await requests.prepare(request)
        let listener = secrets.answered.addListener { wake.notify() }
        defer { secrets.answered.remove(listener) }
        let run = BatchRun(
            job, settings: try settings(stoppingWith: output), calendar: world.clocks.now,
            deadline: deadline, source: source, sink: sink)
        return diagnosis(of: try await carry(run, wake).end)
    }

    private func settings(stoppingWith output: BatchOutput) throws -> BatchSettings {
        BatchSettings(
            concurrency: options.concurrency, rate: options.rate?.perSecond,
            maxAttempts: try session.settings.maxAttempts(),
            timeout: try session.settings.timeout(), brake: brake,
            warnOfSilence: { [console = session.console] length in
                console.warn("no request has succeeded for \(length.words(units: 1)); still trying")
            },
            trace: session.console.trace,
            isStopping: { [world] in
                world.ending.signal != nil || output.failure != nil
            })
    }

    private func carry<Feed: RequestFeed>(_ feed: Feed, _ wake: WakeSignal) async throws -> Feed {
        do throws(TransportError) {
            return try await requests.network.feeds.carry(
                feed, width: options.concurrency + 1, wake: wake,
                timekeeper: world.clocks.timekeeper)
        } catch {
            throw RequestError(
                failure: TokenFailure(cause: .unreachable(error), request: request, attempts: 1),
                context: nil)
        }
    }

    /// Why a run ended before its input did; nil if it did not.
    private func diagnosis(of end: BatchEnd) -> Diagnosis? {
        switch end {
        case .completed, .interrupted: return nil
        case .stopped(let cause), .gaveUp(let cause):
            let failure = TokenFailure(cause: cause, request: request, attempts: 1)
            return Diagnosis(
                RequestError(failure: failure, context: requests.context(after: failure)))
        case .tooManyRefused(let refused, let count):
            return Diagnosis(
                .tooManyRefused,
                "Apple refused \(refused) of the last \(count) items; the run was stopped, and "
                    + "recent refusals were neither written nor noted",
                hints: [
                    "check client_id, profile and input, and developer.apple.com/system-status",
                    "if so many tokens are really dead, set --max-refused higher (100 never stops)",
                ], exitCode: .tooManyRefused)
        case .askedToWait(let wait):
            return Diagnosis(
                .throttled, "Apple asks for a wait of \(wait.measured)", hints: [],
                exitCode: .temporary)
        }
    }
}
