internal import LocalFiles
internal import SignInWithApple

/// How a batch ends: what is left is written, the summary is printed, and the error that decides
/// the exit code is thrown.
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
    /// The records of a vault that other runs hold, and until when.
    var leased: (count: Int, until: NumericDate)?

    /// Prints the summary.
    ///
    /// - Parameter reason: why the run ended before its input did; nil when it did not.
    /// - Throws: the error that decides the exit code; nothing when every item is done.
    func end(stoppedBy reason: Diagnosis?) throws {
        progress.clear()
        let undelivered = closeOutput()
        summarize()
        if let signal = session.world.streams.wishedSignal() {
            throw Interruption(batchBy: signal, wayOn)
        }
        let failures = [
            undelivered, reason.map { BatchStopped($0, wayOn).diagnosis }, inputDiagnosis,
            damaged, itemsNotDone,
        ].compactMap(\.self)
        let prevailing = ExitCode.prevailing(among: failures.map(\.exitCode))
        if let failure = failures.first(where: { $0.exitCode == prevailing }) {
            throw BatchFailure(diagnosis: failure)
        }
    }

    /// Writes what is left; answers why results did not reach their reader.
    private func closeOutput() -> Diagnosis? {
        do throws(FileError) {
            try output.close()
            return nil
        } catch {
            let lost = output.undelivered
            return Diagnosis(
                "not_delivered",
                "\(output.counted.total) items were finished, \(lost) of their results were not "
                    + "delivered: \(error)",
                hints: [goOn ?? wayOnAfterLoss], exitCode: .notDelivered)
        }
    }

    private var wayOnAfterLoss: String {
        options.output.path == nil
            ? "write results to a file with --output FILE: then a run can be resumed"
            : "make room, then continue: the same command with --resume"
    }

    private var inputDiagnosis: Diagnosis? {
        inputFailure.map {
            Diagnosis(
                "input", "the input ends too early: \($0)", hints: [wayOn], exitCode: .settings)
        }
    }

    /// Records of a vault that cannot be read: their results name them.
    private var damaged: Diagnosis? {
        guard output.unusable > 0 else { return nil }
        return Diagnosis(
            "vault", "\(output.unusable) records of the vault cannot be used",
            hints: ["their results name them; 'siwa vault check' examines all records"],
            exitCode: .settings)
    }

    private var itemsNotDone: Diagnosis? {
        let all = output.counted.adding(before)
        guard all.total > all.done else { return nil }
        return Diagnosis(
            "items_not_done", "\(all.total - all.done) of \(all.total) items were not done",
            hints: (all.refused == all.total ? allRefused : [])
                + ["their lines say why: look for a status that is not \"done\""],
            exitCode: all.failed > 0 ? .temporary : .no)
    }

    private var wayOn: String { goOn ?? BatchStopped.goOn(options) }

    private func summarize() {
        var text = progress.summary
        if before.total > 0 { text += ", \(before.total) from before" }
        if output.undelivered > 0 { text += ", \(output.undelivered) not delivered" }
        if let leased, leased.count > 0 {
            text +=
                ", \(leased.count) held by other runs until \(leased.until.rfc3339) at the latest"
        }
        session.console.summarize(text, members)
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
            members.append(.init("leased", .integer(leased.count)))
            if leased.count > 0 {
                members.append(.init("leased_until", .string(leased.until.rfc3339)))
            }
        }
        return members
    }
}

/// Why a batch does not end with exit code 0.
struct BatchFailure: Error, Sendable {
    let diagnosis: Diagnosis
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
            exitCode: diagnosis.exitCode, status: diagnosis.status, apple: diagnosis.apple,
            requestID: diagnosis.requestID)
    }
}
