internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The input and output of a batch, and the results of an earlier run in the output.
struct OpenedBatch: Sendable {
    let lines: any LineSource
    let output: BatchOutput
    /// Which of the lines are to be skipped.
    let resumed: ResumedInput
    /// The counts of the lines with a result.
    let before: BatchCounts

    /// Opens the input first: if it is missing, no empty output must remain. A resumed run begins
    /// after the earlier results were compared with the input.
    ///
    /// - Parameters:
    ///   - mark: the member that distinguishes the command's results from those of others.
    ///   - origin: whose results the earlier ones must be; nil for results of no client.
    ///   - wake: notified when there is more input, or more room for output.
    ///   - identify: reads an item.
    init(
        _ options: BatchOptions, _ mark: ResultMark, _ origin: BatchOrigin?,
        _ session: Session, _ layout: BatchLayout = .standard, wake: WakeSignal,
        identify: @escaping ItemReading<any NumberedItem>
    ) async throws {
        let world = session.world
        let input = try StreamingLines(options.input?.path, in: world, wake: wake)
        var results = EarlierResults(of: mark, origin, slots: world.streams.slots)
        let sink = try options.results(session, wake) { results.insert(resultIn: $0) }
        let output = options.output.path ?? "standard output"
        try results.checkOutput(output)
        let ids = SeenIDs(spill: world.streams.hashes)
        (lines, resumed) = try await input.resumed(
            after: results, in: output, ids: ids, spool: world.streams.spool, identify: identify)
        before = results.counts
        try world.streams.requireBatchThreads()
        world.ending.begin(.change)
        self.output = BatchOutput(sink, layout)
    }

    /// Opens the output of a batch whose items do not come from a file; returns the number of
    /// existing results.
    static func output(
        _ options: BatchOptions, _ mark: ResultMark, _ session: Session, wake: WakeSignal
    ) throws -> (BatchOutput, linesBefore: Int) {
        var lines = 0
        var foreign: Int?
        let sink = try options.results(session, wake) { line in
            guard let result = ResultLine(line) else { return false }
            lines += 1
            if result.isForeign(to: mark) { foreign = foreign ?? line.number }
            return true
        }
        if let foreign {
            throw OutputRefusal(foreignResult: foreign, in: options.output.path ?? "")
        }
        try session.world.streams.requireBatchThreads()
        session.world.ending.begin(.change)
        return (BatchOutput(sink), lines)
    }
}

extension BatchOptions {
    /// Opens the output.
    ///
    /// - Parameter keep: receives the existing lines if the run is resumed; returns false for a
    ///   line that is not a result.
    fileprivate func results(
        _ session: Session, _ wake: WakeSignal, keeping keep: @escaping (InputLine) -> Bool
    ) throws -> any LineSink {
        try session.examineOutput(output.path)
        do throws(FileError) {
            return try session.world.streams.results(
                output.path, isResuming ? keep : nil, wake.notify)
        } catch {
            throw OutputRefusal(error) ?? error
        }
    }
}

/// The output contains something that this run must not continue.
struct OutputRefusal: DiagnosableError {
    private let error: FileError

    /// Nil for any other error.
    init?(_ error: FileError) {
        guard error.isNotEmpty || error.holdsSomethingElse else { return nil }
        self.error = error
    }

    /// A line of the output is a result of another command.
    init(foreignResult line: Int, in output: String) {
        error = FileError("write", output, reason: "line \(line) is a result of another command")
    }

    var diagnosis: Diagnosis {
        Diagnosis(
            .configuration, error.description,
            hints: error.isNotEmpty
                ? [
                    "to continue the run that wrote it, add --resume",
                    "for a new run, name another file with --output",
                ]
                : [
                    "to continue an earlier run, name the file that it wrote with --output",
                    "for a new run, name a new file with --output and leave out --resume",
                ], exitCode: .settings)
    }
}

extension EarlierResults {
    /// Refuses an output that was not written by a run of this command.
    fileprivate func checkOutput(_ output: String) throws {
        if let failure { throw failure }
        if let foreign { throw OutputRefusal(foreignResult: foreign, in: output) }
        if let contradictory {
            throw ResumeMismatch(.contradictory, line: contradictory, in: output)
        }
        if let different {
            throw ResumeMismatch(
                .otherOrigin(different.difference), line: different.line, in: output)
        }
    }
}

extension StreamingLines {
    /// Compares the input with the results of an earlier run, and returns the rest to read.
    fileprivate func resumed(
        after results: EarlierResults, in output: String, ids: SeenIDs,
        spool: () -> any LineSpool, identify: @escaping ItemReading<any NumberedItem>
    ) async throws -> (any LineSource, ResumedInput) {
        guard results.lastLine > 0 else { return (source, ResumedInput(ids: ids)) }
        let kept = source.isRepeatable ? nil : spool()
        var check = ResumeCheck(
            results, in: output, ids: ids, keepingIn: kept, identify: identify)
        while !check.isComplete {
            guard let lines = try await next() else {
                try check.end()
                break
            }
            try check.take(lines)
        }
        if let kept { return (ResumedLines(kept, then: source), check.resumed) }
        source.stop()
        return (try reopened(), check.resumed)
    }
}

extension Session {
    /// Refuses `--print`, because a batch has many results.
    func checkNothingIsPicked() throws(UsageError.Problem) {
        guard options.print == nil else {
            throw UsageError.Problem.misuse(
                "--print selects from one result, and this command has many",
                hint: "jq -r .MEMBER picks a member of every line")
        }
    }
}

extension BatchOptions {
    /// Refuses options that exclude each other.
    ///
    /// - Parameter needsInput: whether an input is required.
    func check(needsInput: Bool = true) throws(UsageError.Problem) {
        guard input != nil || !needsInput else { throw .missingParameters(["--input FILE"]) }
        guard !isResuming || output.path != nil else {
            throw UsageError.Problem.misuse(
                "--resume needs --output FILE: the file records what is done",
                hint: "name the file of the earlier run")
        }
    }
}
