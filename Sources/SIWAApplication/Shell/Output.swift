internal import SIWACommandTable
package import SIWACrypto
internal import SIWALifecycle
package import SIWASystem

/// What a command prints besides its exit code.
package struct OutputOptions: Sendable {
    /// Results and messages are JSON.
    package var json = false
    /// Prints only this member of the result.
    package var print: String?
    /// Shows requests and responses.
    package var isVerbose = false
    /// Prints no notes and warnings.
    package var isQuiet = false

    package init() {}
}

/// A change that a command made, for the error if its result cannot be printed.
package struct Deed: Sendable {
    /// What was done, as a sentence without a full stop.
    let words: String
    /// What to do next.
    let hint: String

    package init(_ words: String, hint: String) { (self.words, self.hint) = (words, hint) }
}

extension World {
    /// Writes a result to standard output.
    ///
    /// A closed pipe, as with `head`, is not an error if the result only shows something: the exit
    /// code is then unchanged.
    ///
    /// - Throws: ``UndeliveredResult``.
    package func deliver(_ result: SecretBytes, of deed: Deed?) throws(UndeliveredResult) {
        do {
            try output(result)
        } catch {
            guard deed == nil, error.isClosedPipe else {
                throw UndeliveredResult(error, after: deed)
            }
        }
    }
}

/// The result could not be written, or standard output was closed.
package struct UndeliveredResult: DiagnosableError {
    let reason: FileError
    /// What was done before; nil if nothing was done.
    let deed: Deed?

    package init(_ reason: FileError, after deed: Deed?) {
        (self.reason, self.deed) = (reason, deed)
    }

    package var diagnosis: Diagnosis {
        let reason =
            reason.isClosedPipe ? "standard output is closed" : reason.description
        return Diagnosis(
            .notDelivered, (deed.map { "\($0.words), but " } ?? "") + reason,
            hints: [deed?.hint ?? "fix standard output, then run it again"],
            exitCode: .notDelivered)
    }
}
