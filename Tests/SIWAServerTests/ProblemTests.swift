import SIWALifecycle
import Testing

@testable import SIWAApplication
@testable import SIWAServer

@Suite struct ProblemTests {
    /// Whether this process cannot reach or use the database, or the database has what only an
    /// operator can put right.
    @Test(arguments: [
        (StoreError.Kind.busy, 503), (.full, 503), (.unreachable, 503), (.keySuperseded, 503),
        (.tooNew, 503), (.tooOld, 503), (.unusable, 503), (.untrusted, 503), (.unavailable, 503),
        (.readOnly, 503), (.inUse, 503), (.moving, 503), (.moved, 503),
        (.copyIncomplete, 503), (.notInitialized, 503), (.serverNotInitialized, 503),
        (.damaged, 500), (.key, 500),
        (.sealBroken, 500), (.tokenInvalid, 500), (.recordDamaged, 500),
    ])
    func `an error of the vault is temporary if the vault cannot be used`(
        _ kind: StoreError.Kind, _ status: Int
    ) {
        let problem = Problem(Diagnosis(StoreError(kind, "what happened")))
        #expect(problem.status.rawValue == status && problem.code == "vault")
        #expect((problem.retryAfter != nil) == (status == 503))
        #expect(problem.detail == "what happened" && !problem.hints.isEmpty)
    }

    /// Apple's codes are texts from outside: one that a status of the API is called must not choose it.
    @Test(arguments: ["unauthorized", "not_found", "throttled", "code_conflict"])
    func `the code of an error does not choose its status`(_ code: String) {
        let diagnosis = Diagnosis(
            recorded: code, "what happened", hints: [], exitCode: .requestRefused)
        #expect(Problem(diagnosis).status == .unprocessable)
    }

    @Test func `a stored error keeps its status`() throws {
        let stored = try #require(Diagnosis(error: Diagnosis.codeRevoked.stored))
        #expect(stored.apiStatus == .conflict && stored.exitCode == .grantRefused)
        #expect(stored.json == Diagnosis.codeRevoked.json)
    }
}
