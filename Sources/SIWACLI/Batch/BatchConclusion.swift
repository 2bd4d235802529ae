internal import SIWAApplication
internal import SIWAJOSE
internal import SIWASystem

/// The end of a batch: the last results are written, the summary printed, and the error that decides
/// the exit code is thrown.
struct BatchConclusion: Sendable {
    let session: Session
    let options: BatchOptions
    let output: BatchOutput
    let progress: Progress
    /// The counts of earlier runs.
    let before: BatchCounts
    /// Why the input could not be read to its end; nil if it was.
    let inputFailure: FileError?
    /// The hint about continuing a stopped run; nil for the usual hint.
    var continuation: String?
    /// Further hints for a run in which every item was refused.
    var allRefused: [String] = []
    /// The number of items read that lack the shape of a token.
    var unusual = 0
    /// The records of a vault that other runs have leased, and until when.
    var leased: (count: Int, until: NumericDate)?

    /// Prints the summary.
    ///
    /// - Parameter reason: why the run ended before its input did; nil if it did not.
    /// - Throws: the error that decides the exit code; does not throw if every item is done.
    func end(stoppedBy reason: Diagnosis?) throws {
        progress.clear()
        let undelivered = closeOutput()
        summarize()
        warnOfUnusual()
        if let signal = session.world.ending.signal {
            throw Interruption(batchBy: signal, continuationHint)
        }
        let failures = [
            undelivered, reason.map { BatchStopped($0, continuationHint).diagnosis },
            inputDiagnosis,
            damaged, itemsNotDone, nothingClaimed,
        ].compactMap(\.self)
        let prevailing = ExitCode.prevailing(among: failures.map(\.exitCode))
        if let failure = failures.first(where: { $0.exitCode == prevailing }) {
            throw failure
        }
    }

    /// Writes the last results.
    ///
    /// - Returns: why results did not reach their reader; nil if they did.
    private func closeOutput() -> Diagnosis? {
        do throws(FileError) {
            try output.close()
            return nil
        } catch {
            let lost = output.undelivered
            return Diagnosis(
                .notDelivered,
                "\(output.counted.total) items were finished, \(lost) of their results were not "
                    + "delivered: \(error)",
                hints: [error.remedy, continuation ?? hint(after: error)].compactMap(\.self),
                exitCode: .notDelivered)
        }
    }

    private func hint(after loss: FileError) -> String {
        guard options.output.path != nil else {
            return "write results to a file with --output FILE: such a run can be resumed"
        }
        return loss.remedy == nil
            ? "free some disk space, then run the same command with --resume"
            : "to repeat the items whose results are missing, run the same command with --resume"
    }

    private var inputDiagnosis: Diagnosis? {
        inputFailure.map {
            Diagnosis(
                .input, "the input could not be read to its end: \($0)", hints: [continuationHint],
                exitCode: .settings)
        }
    }

    /// Records of a vault that cannot be read: their results name them.
    private var damaged: Diagnosis? {
        guard output.unusable > 0 else { return nil }
        return Diagnosis(
            .vault, "\(output.unusable) records of the vault cannot be used",
            hints: ["their results name them; 'siwa vault check' examines all records"],
            exitCode: .settings)
    }

    private func warnOfUnusual() {
        guard unusual > 0 else { return }
        session.console.warn(
            "items without the shape of Apple's tokens: \(unusual); Apple answers 200 "
                + "to anything, so 'siwa revoke --token @PATH --check-first' tells what one is")
    }

    private var itemsNotDone: Diagnosis? {
        let all = output.counted.adding(before)
        guard all.total > all.done else { return nil }
        return Diagnosis(
            .itemsNotDone, "\(all.total - all.done) of \(all.total) items were not done",
            hints: (all.refused == all.total ? allRefused : [])
                + ["the results give the reasons: look for a status other than \"done\""],
            exitCode: all.failed > 0 ? .temporary : .no)
    }

    /// A run on a vault that found nothing but what others hold did not do what it was for.
    private var nothingClaimed: Diagnosis? {
        guard let leased, leased.count > 0, output.counted.total == 0 else { return nil }
        return Diagnosis(
            .itemsHeld,
            "no item was free: other runs hold \(leased.count), until \(leased.until.rfc3339) at the "
                + "latest",
            hints: [
                "if they work on them, nothing has to be done; if they died, run this again then",
                "'siwa vault check' names leases of a clock that was wrong",
            ], exitCode: .temporary)
    }

    private var continuationHint: String { continuation ?? BatchStopped.continuation(options) }

    private func summarize() {
        var text = progress.summary
        if before.total > 0 { text += ", \(before.total) from earlier runs" }
        if output.undelivered > 0 { text += ", \(output.undelivered) not delivered" }
        if let leased, leased.count > 0 {
            text +=
                ", \(leased.count) held by other runs until \(leased.until.rfc3339) at the latest"
        }
        session.console.summarize(text, members)
        session.world.metrics.noteItems(output.counted, held: leased?.count)
    }

    /// The summary for machines.
    private var members: [JSON.Member] {
        let counts = output.counted
        var members: [JSON.Member] = [
            .init("done", .integer(counts.done)), .init("refused", .integer(counts.refused)),
            .init("failed", .integer(counts.failed)), .init("invalid", .integer(counts.invalid)),
            .init("skipped", .integer(before.total)),
            .init("not_delivered", .integer(output.undelivered)),
            .init("seconds", .number(progress.seconds)),
        ]
        if let leased {
            members.append(.init("held", .integer(leased.count)))
            members.append(.init("leased", .integer(leased.count)))
            if leased.count > 0 {
                members.append(.init("leased_until", .string(leased.until.rfc3339)))
            }
        }
        return members
    }
}

/// A batch ended before its input did. What was finished is in the output.
struct BatchStopped: Sendable {
    let diagnosis: Diagnosis

    static let vaultContinuation =
        "to continue, run the same command: the vault records what is left"

    static func continuation(_ options: BatchOptions) -> String {
        options.output.path.map { _ in
            "to continue, run the same command with --resume; finished items are in the output"
        } ?? "finished items were printed; with --output FILE a run can be resumed"
    }

    init(_ diagnosis: Diagnosis, _ continuation: String) {
        self.diagnosis = Diagnosis(
            recorded: diagnosis.code, diagnosis.message, hints: diagnosis.hints + [continuation],
            exitCode: diagnosis.exitCode, status: diagnosis.status, apple: diagnosis.apple,
            requestID: diagnosis.requestID)
    }
}

extension Diagnosis {
    /// Nil unless a run stopped because most items do not look like tokens.
    init?(stopping unusual: (shapes: TokenShapes, isStopped: Bool)) {
        guard unusual.isStopped else { return nil }
        self.init(
            .unusualTokens,
            "\(unusual.shapes.unusual) of the first \(unusual.shapes.read) items do not have the "
                + "shape of Apple's tokens; none of these was sent",
            hints: [
                "check the input: one token per line, or JSON with a member \"token\"",
                "if they are tokens all the same, add --allow-unusual",
            ], exitCode: .tooManyRefused)
    }
}
