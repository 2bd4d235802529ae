internal import LocalFiles
internal import SignInWithApple

extension BatchRunner {
    /// Says how it went, and ends with the exit code of it.
    func conclude(
        _ end: BatchEnd, _ output: BatchOutput, _ inputFailure: FileError?,
        before: (lines: Int, notDone: Int),
        _ progress: BatchProgress
    ) throws {
        try output.close()
        let counts = output.counted
        summarize(counts, before.lines, progress)
        if let signal = world.streams.wishedSignal() { throw Interruption(signal: signal) }
        if let inputFailure {
            throw BatchStopped(
                Diagnosis(
                    "input", "the input ends too early: \(inputFailure)", hints: [],
                    exitCode: .settings), options)
        }
        switch end {
        case .completed, .interrupted: break
        case .stopped(let cause), .gaveUp(let cause): throw stopped(by: cause)
        case .askedToWait(let wait):
            throw BatchStopped(
                Diagnosis(
                    "throttled", "Apple asks for a wait of \(wait.inSeconds)", hints: [],
                    exitCode: .temporary), options)
        }
        let open = counts.total - counts.done + before.notDone
        guard open == 0 else {
            throw NegativeAnswer(
                "items_not_done", "\(open) of \(counts.total + before.lines) items were not done",
                hints: ["their lines say why: look for a status that is not \"done\""])
        }
    }

    private func stopped(by cause: TokenFailure.Cause) -> BatchStopped {
        let failure = TokenFailure(cause: cause, request: request, attempts: 1)
        let error = RequestError(failure: failure, situation: situation(failure))
        return BatchStopped(Diagnosis(error), options)
    }

    private func summarize(_ counts: BatchCounts, _ skipped: Int, _ progress: BatchProgress) {
        let before = skipped > 0 ? ", \(skipped) from before" : ""
        session.console.note(progress.summary + before)
    }
}

/// A batch ended before its input did. What was finished is in the output.
struct BatchStopped: Error, Sendable {
    let diagnosis: Diagnosis

    init(_ diagnosis: Diagnosis, _ options: BatchOptions) {
        let goOn =
            options.output.path.map { _ in
                "what was finished is in the output; the same call with --resume goes on from there"
            } ?? "what was finished was printed; with --output FILE a run can be resumed"
        self.diagnosis = Diagnosis(
            diagnosis.code, diagnosis.message, hints: diagnosis.hints + [goOn],
            exitCode: diagnosis.exitCode, status: diagnosis.status, apple: diagnosis.apple)
    }
}

/// Somebody asked for the end.
struct Interruption: Error, Sendable {
    let signal: CInt
}
