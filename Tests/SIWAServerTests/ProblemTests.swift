import Lifecycle
import SIWACLI
import Testing

@testable import SIWAServer

@Suite struct ProblemTests {
    /// Whether this process cannot reach or use the database, or the database has what only an
    /// operator can put right.
    @Test(arguments: [
        (VaultError.Kind.busy, 503), (.full, 503), (.unreachable, 503), (.keySuperseded, 503),
        (.tooNew, 503), (.unusable, 503), (.untrusted, 503), (.unavailable, 503),
        (.readOnly, 503), (.inUse, 503), (.moving, 503), (.moved, 503),
        (.copyIncomplete, 503), (.notInitialized, 503), (.serverNotInitialized, 503),
        (.damaged, 500), (.key, 500),
        (.sealBroken, 500), (.tokenInvalid, 500), (.recordDamaged, 500),
    ])
    func `an error of the vault is temporary if the vault cannot be used`(
        _ kind: VaultError.Kind, _ status: Int
    ) {
        let problem = Problem(Diagnosis(VaultError(kind, "what happened")))
        #expect(problem.status == status && problem.code == "vault")
        #expect((problem.retryAfter != nil) == (status == 503))
        #expect(problem.detail == "what happened" && !problem.hints.isEmpty)
    }
}
