/// A signal ended the command in an orderly way.
package struct Interruption: DiagnosableError {
    let signal: CInt
    /// What was finished before.
    let achievement: String
    /// What to do next.
    let hint: String

    /// A command that had finished before the signal took effect.
    package init(signal: CInt) {
        self.signal = signal
        achievement = "the command had finished"
        hint = "read its result on standard output before you run it again"
    }

    /// A command that makes one change after the other.
    package init(betweenChangesBy signal: CInt) {
        self.signal = signal
        achievement = "the change in progress was finished, the others were not begun"
        hint = "to continue, run it again"
    }

    /// A batch that a signal ended.
    ///
    /// - Parameter hint: how to continue it.
    package init(batchBy signal: CInt, _ hint: String) {
        self.signal = signal
        achievement = "the items in flight had finished"
        self.hint = hint
    }

    package var diagnosis: Diagnosis {
        let exitCode = ExitCode(signal: signal)
        return Diagnosis(
            .stopped, "\(exitCode.meaning.dropLast()), after \(achievement)", hints: [hint],
            exitCode: exitCode)
    }
}
