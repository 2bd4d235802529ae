internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Verifies the identity tokens of a long input, on several threads.
///
/// Workers take whole groups of lines from the input, because passing on single tokens would be
/// slow.
struct VerifyBatch: Sendable {
    let verifying: Verifying
    let options: BatchOptions
    /// Which results are written.
    let filter: StatusFilter
    /// How many tokens to verify at the same time.
    let workers: Int

    private var session: Session { verifying.session }
    private var world: World { session.world }

    /// Runs from the first line to the summary.
    func run() async throws {
        try options.check()
        try session.checkNothingIsPicked()
        let given = try verifying.givenKeySet()
        let wake = world.wakeSignal()
        let opened = try await OpenedBatch(options, .valid, nil, session, wake: wake) {
            line, number throws(InvalidLine) in
            try IdentityTokenItem(line, line: number)
        }
        let output = opened.output
        let results = OrderedResults(
            output, filter, ids: opened.resumed.ids, wake, ahead: workers * 2)
        let groups = LineGroups(opened.lines, results, wake) { [world] in
            world.ending.signal != nil || output.failure != nil
                || results.idFailure != nil
        }
        let worker = Worker(
            verifier: ItemVerifier(verifying, BatchKeys(verifying), given: given, filter),
            done: opened.resumed.done, groups: groups)
        let progress = Progress(.results(output), world, isQuiet: session.options.isQuiet) {
            opened.lines.expectedLines.map { $0 - opened.before.total }
        }
        let problem = await work(worker, try world.threads(workers)) { group in
            results.take(group)
            progress.update()
        }
        try BatchConclusion(
            session: session, options: options, output: output, progress: progress,
            before: opened.before, inputFailure: groups.failure
        ).end(stoppedBy: problem ?? results.idFailure.map { Diagnosis($0) })
    }

    /// Runs the workers until the input ends; returns the error that stopped them earlier. Each
    /// worker writes its own results, because waking another task for that costs more than the work
    /// itself.
    private func work(
        _ worker: Worker, _ threads: any TaskExecutor,
        take: @escaping @Sendable (GroupResults) -> Void
    ) async -> Diagnosis? {
        await withTaskGroup(of: Diagnosis?.self) { [workers] group in
            for _ in 0..<workers {
                group.addTask(executorPreference: threads) {
                    await worker.run(give: take)
                }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }
}

/// A thread that verifies groups of lines.
private struct Worker: Sendable {
    let verifier: ItemVerifier
    let done: DoneLines
    let groups: LineGroups

    /// The approximate length of the result of a valid token, in bytes.
    private static let usualLength = 1536

    /// Works until the input ends; returns the error that stopped it earlier.
    func run(give: @Sendable (GroupResults) -> Void) async -> Diagnosis? {
        var verifier = verifier
        while let group = await groups.next() {
            var text: [UInt8] = []
            var results: [LineResult] = []
            text.reserveCapacity(group.lines.count * Self.usualLength)
            results.reserveCapacity(group.lines.count)
            defer { give(GroupResults(number: group.number, text: text, results: results)) }
            do {
                for line in group.lines {
                    let isDone = done.contains(line.number)
                    var outcome = verifier.examine(line, isDone: isDone, appendingTo: &text)
                    if case .needsKey(let keyID) = outcome {
                        try await verifier.findKeys(for: keyID)
                        outcome = verifier.examine(
                            line, isDone: isDone, hasSearched: true, appendingTo: &text)
                    }
                    if case .result(let result) = outcome { results.append(result) }
                }
            } catch {
                groups.end()
                return Diagnosis(error)
            }
        }
        return nil
    }
}

extension VerdictWriter {
    /// Adds the line of an item: what `siwa verify` prints, and for a token that is not valid its
    /// error.
    mutating func append(
        _ item: IdentityTokenItem, _ status: BatchStatus,
        _ verification: IdentityTokenVerification, to text: inout [UInt8]
    ) {
        let lines = text
        // Releases the second reference: appending would otherwise copy the array.
        text = []
        var line = BatchOutput.begin(
            line: item.line, id: item.id, status, status == .done ? .done : .no,
            after: consume lines)
        let fingerprint = verification.token?.fingerprint ?? item.token.fingerprint
        line.add("token_fingerprint", fingerprint)
        if status == .refused {
            let refusal = VerifiedSubject.identityToken.refusal(verification.failures, hints: [])
            line.add(refusal.lineMember)
        }
        add(verification, to: &line)
        text = line.finished()
    }
}
