internal import SignInWithApple

/// A command about several tokens printed its result, and failed for some of them.
struct PartialResult: Error, Sendable {
    let diagnosis: Diagnosis

    /// Takes what went wrong with single tokens; the failure whose exit code prevails is reported.
    ///
    /// - Parameters:
    ///   - failures: at least one.
    ///   - count: of all tokens.
    ///   - deed: what was not done, as in "2 of 3 tokens were not revoked".
    ///   - exitCode: of all of them together.
    init(_ failures: [Diagnosis], of count: Int, _ deed: String, exitCode: ExitCode) {
        let first = failures.first { $0.exitCode == exitCode }
        let summary =
            count > 1
            ? ["\(failures.count) of \(count) tokens were not \(deed); 'tokens' says which"] : []
        diagnosis = Diagnosis(
            first?.code ?? "failed", first?.message ?? "some tokens were not \(deed)",
            hints: summary + (first?.hints ?? []), exitCode: exitCode, status: first?.status,
            apple: first?.apple, requestID: first?.requestID)
    }
}

extension Diagnosis {
    /// The error as a member of one token's result.
    var member: JSON.Member { .init("error", json["error"] ?? .null) }
}
