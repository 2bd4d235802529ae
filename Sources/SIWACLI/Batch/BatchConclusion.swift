internal import LocalFiles
internal import SignInWithApple

/// How a batch ends: what is left is written, what became of it is said.
struct BatchConclusion: Sendable {
    let session: Session
    let options: BatchOptions
    let output: BatchOutput
    let progress: BatchProgress
    /// Of the runs before this one.
    let before: BatchCounts
    /// Why the input could not be read to its end; nil when it was.
    let inputFailure: FileError?
    /// How a run that was stopped goes on; nil for as its options allow.
    var goOn: String?
    /// What it means when all items were refused, where it means more than one by one.
    var allRefused: [String] = []

    /// Says how it went, and ends with the exit code of it.
    ///
    /// - Parameter reason: why it ended before its input did; nil when it did not.
    func end(stoppedBy reason: Diagnosis?) throws {
        progress.clear()
        try closeOutput()
        let counts = output.counted
        summarize()
        if let signal = session.world.streams.wishedSignal() {
            throw Interruption(batchBy: signal, wayOn)
        }
        if let inputFailure {
            throw BatchStopped(
                Diagnosis(
                    "input", "the input ends too early: \(inputFailure)", hints: [],
                    exitCode: .settings), wayOn)
        }
        if let reason { throw BatchStopped(reason, wayOn) }
        let open = counts.total - counts.done + before.total - before.done
        guard open == 0 else {
            throw NegativeAnswer(
                "items_not_done", "\(open) of \(counts.total + before.total) items were not done",
                hints: (counts.refused == counts.total + before.total ? allRefused : [])
                    + ["their lines say why: look for a status that is not \"done\""])
        }
    }

    /// Of a full disk, too, one has to know how to go on.
    private func closeOutput() throws {
        do throws(FileError) {
            try output.close()
        } catch {
            guard !error.isClosedPipe else { throw error }
            throw BatchStopped(Diagnosis(error), wayOn)
        }
    }

    private var wayOn: String { goOn ?? BatchStopped.goOn(options) }

    private func summarize() {
        let before = before.total > 0 ? ", \(before.total) from before" : ""
        session.console.note(progress.summary + before)
    }
}

/// A batch ended before its input did. What was finished is in the output.
struct BatchStopped: Error, Sendable {
    let diagnosis: Diagnosis

    static let vaultGoesOn = "the vault knows what is left: the same call goes on"

    static func goOn(_ options: BatchOptions) -> String {
        options.output.path.map { _ in
            "what was finished is in the output; the same call with --resume goes on from there"
        } ?? "what was finished was printed; with --output FILE a run can be resumed"
    }

    init(_ diagnosis: Diagnosis, _ goOn: String) {
        self.diagnosis = Diagnosis(
            diagnosis.code, diagnosis.message, hints: diagnosis.hints + [goOn],
            exitCode: diagnosis.exitCode, status: diagnosis.status, apple: diagnosis.apple)
    }
}
