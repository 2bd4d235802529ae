internal import CommandTable
internal import LocalFiles
internal import SignInWithApple

/// Verifies the identity tokens of a long input, on several threads.
///
/// Workers take groups of lines from the input by themselves and work on each from one end to
/// the other: nothing is handed over token by token.
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
        let news = News()
        let opened = try await OpenedBatch(options, .valid, in: world, news: news.ring) {
            line, number throws(InvalidLine) in
            BatchItemName(try IdentityTokenItem(line, line: number))
        }
        let output = opened.output
        let results = OrderedResults(
            output, filter, ids: opened.resumed.ids, news, ahead: workers * 2)
        let groups = LineGroups(opened.lines, results, news) { [world] in
            world.streams.wishedSignal() != nil || output.failure != nil
                || results.idFailure != nil
        }
        let worker = Worker(
            verifier: ItemVerifier(verifying, BatchKeys(verifying), given: given, filter),
            done: opened.resumed.done, groups: groups)
        let progress = BatchProgress(output, world, isQuiet: session.options.isQuiet) {
            opened.lines.expectedLines.map { $0 - opened.before.total }
        }
        let problem = await ringing(news) {
            await work(worker) { group in
                results.take(group)
                progress.update()
            }
        }
        try BatchConclusion(
            session: session, options: options, output: output, progress: progress,
            before: opened.before, inputFailure: groups.failure
        ).end(stoppedBy: problem ?? results.idFailure.map { Diagnosis($0) })
    }

    /// Lets the workers run until nothing is left; answers what stopped them before. Each hands
    /// its results over by itself: waking somebody for that costs more than it takes.
    private func work(
        _ worker: Worker, take: @escaping @Sendable (GroupResults) -> Void
    ) async -> Diagnosis? {
        await withTaskGroup(of: Diagnosis?.self) { [workers] group in
            for _ in 0..<workers {
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    await worker.run(give: take)
                }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }

    /// Rings now and then: a signal rings no bell, and the input may be silent for long.
    private func ringing<Result>(_ news: News, while body: () async -> Result) async -> Result {
        let clock = Task {
            while (try? await Task.sleep(for: .milliseconds(200))) != nil { news.ring() }
        }
        defer { clock.cancel() }
        return await body()
    }
}

/// One thread's part of a batch.
private struct Worker: Sendable {
    let verifier: ItemVerifier
    let done: DoneLines
    let groups: LineGroups

    /// About what is written of a valid token, in bytes.
    private static let usualLength = 1536

    /// Works until there is nothing more to do; answers what made that impossible.
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
                    let result = try await verifier.result(
                        of: line, isDone: isDone, appendingTo: &text)
                    if let result { results.append(result) }
                }
            } catch {
                groups.end()
                return Diagnosis(error)
            }
        }
        return nil
    }
}
