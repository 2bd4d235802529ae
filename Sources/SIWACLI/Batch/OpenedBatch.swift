internal import CommandTable
internal import LocalFiles
internal import SignInWithApple

/// The two ends of a batch, and what an earlier run left at the second.
struct OpenedBatch: Sendable {
    let lines: any LineSource
    let output: BatchOutput
    let done: DoneLines

    /// Opens the input first: a missing one must not leave an empty output behind.
    ///
    /// - Parameters:
    ///   - mark: what results of the command bear, to tell them from another's.
    ///   - news: called when there is more input, or more room for output.
    init(
        _ options: BatchOptions, _ mark: ResultMark,
        _ layout: @escaping BatchLayout = standardLayout, in world: World,
        news: @escaping @Sendable () -> Void
    ) throws(FileError) {
        lines = try world.streams.lines(options.input?.path, news)
        var done = DoneLines(of: mark)
        let sink: any LineSink
        if options.isResuming {
            sink = try world.streams.results(
                options.output.path, { done.insert(resultIn: $0) }, news)
        } else {
            sink = try world.streams.results(options.output.path, nil, news)
        }
        if let foreign = done.foreign {
            throw FileError(
                "write", options.output.path ?? "standard output",
                reason: "line \(foreign) is a result of another command")
        }
        world.streams.holdSignals()
        output = BatchOutput(sink, layout)
        self.done = done
    }

    /// Opens the output of a batch whose items do not come from a file; answers how many results
    /// are in it already.
    static func output(
        _ options: BatchOptions, in world: World, news: @escaping @Sendable () -> Void
    ) throws(FileError) -> (BatchOutput, linesBefore: Int) {
        var lines = 0
        let sink =
            options.isResuming
            ? try world.streams.results(
                options.output.path,
                { line in
                    lines += 1
                    return true
                }, news)
            : try world.streams.results(options.output.path, nil, news)
        world.streams.holdSignals()
        return (BatchOutput(sink), lines)
    }
}

extension Session {
    /// Finds that one member is asked for where there are many results.
    func checkNothingIsPicked() throws(UsageError.Problem) {
        guard options.print == nil else {
            throw UsageError.Problem.misuse(
                "--print goes with one result, not with many",
                hint: "jq -r .MEMBER picks a member of every line")
        }
    }
}

extension BatchOptions {
    /// Finds what cannot be asked for together.
    ///
    /// - Parameter needsInput: whether items come from nowhere else.
    func check(needsInput: Bool = true) throws(UsageError.Problem) {
        guard input != nil || !needsInput else { throw .missingParameters(["--input FILE"]) }
        guard !isResuming || output.path != nil else {
            throw UsageError.Problem.misuse(
                "--resume needs --output FILE: the file tells what is done",
                hint: "name the file of the earlier run")
        }
    }
}
