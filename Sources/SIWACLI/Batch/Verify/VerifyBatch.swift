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
    /// How many tokens to verify at the same time.
    let workers: Int

    private var session: Session { verifying.session }
    private var world: World { session.world }

    /// Runs from the first line to the summary.
    func run() async throws {
        try options.check()
        let given = try verifying.givenKeySet()
        let news = News()
        let opened = try OpenedBatch(options, in: world, news: news.ring)
        let output = opened.output
        let results = OrderedResults(
            output, ids: SeenIDs(spill: world.streams.hashes), news, ahead: workers * 2)
        let groups = LineGroups(opened.lines, results, news) { [world] in
            world.streams.wishedSignal() != nil || output.failure != nil
        }
        let worker = Worker(
            verifier: ItemVerifier(verifying, BatchKeys(verifying), given: given),
            done: opened.done, groups: groups, results: results,
            progress: BatchProgress(output, world, isQuiet: session.options.isQuiet))
        let problem = await work(worker, news)
        try BatchConclusion(
            session: session, options: options, output: output, progress: worker.progress,
            before: (results.skipped, opened.done.notDone), inputFailure: groups.failure
        ).end(stoppedBy: problem)
    }

    /// Lets the workers run until nothing is left; answers what stopped them before.
    private func work(_ worker: Worker, _ news: News) async -> Diagnosis? {
        // A signal rings no bell, and the input may be silent for long.
        let clock = Task {
            while (try? await Task.sleep(for: .milliseconds(200))) != nil { news.ring() }
        }
        defer { clock.cancel() }
        return await withTaskGroup(of: Diagnosis?.self) { group in
            for _ in 0..<workers {
                group.addTask(executorPreference: globalConcurrentExecutor) { await worker.run() }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }
}

/// One thread's part of a batch.
private struct Worker: Sendable {
    let verifier: ItemVerifier
    let done: DoneLines
    let groups: LineGroups
    let results: OrderedResults
    let progress: BatchProgress

    /// Works until there is nothing more to do; answers what made that impossible.
    func run() async -> Diagnosis? {
        var verifier = verifier
        while let group = await groups.next() {
            var results: [LineResult] = []
            results.reserveCapacity(group.lines.count)
            defer { self.results.take(results, of: group.number) }
            do {
                for line in group.lines {
                    let isDone = done.contains(line.number)
                    if let result = try await verifier.result(of: line, isDone: isDone) {
                        results.append(result)
                    }
                }
            } catch {
                groups.end()
                return Diagnosis(error)
            }
            progress.update()
        }
        return nil
    }
}
