import SIWACrypto
import SIWAJOSE
import Testing

/// One way to sign in and to exchange, and whether it works.
struct PKCECase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var challenge: JSON?
    var method: JSON?
    var verifier: String?
    /// The verdict's beginning; nil when the exchange succeeds.
    var verdict: String?
}

@Suite struct PKCETests {
    /// RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge: JSON = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    static let cases = [
        PKCECase(testDescription: "neither"),
        PKCECase(
            testDescription: "S256", challenge: challenge, method: "S256", verifier: verifier),
        PKCECase(
            testDescription: "plain", challenge: .string(verifier), method: "plain",
            verifier: verifier),
        PKCECase(
            testDescription: "plain by default", challenge: .string(verifier), verifier: verifier),
        PKCECase(
            testDescription: "verifier missing", challenge: challenge, method: "S256",
            verdict: "code_verifier: missing"),
        PKCECase(
            testDescription: "another verifier", challenge: challenge, method: "S256",
            verifier: verifier + "x", verdict: "code_verifier: does not fit"),
        PKCECase(
            testDescription: "S256 announced, plain sent", challenge: challenge, method: "S256",
            verifier: challenge.string, verdict: "code_verifier: does not fit"),
        PKCECase(
            testDescription: "a Kelvin sign for a K", challenge: .string(verifier), method: "plain",
            verifier: verifier.replacing("K", with: "\u{212A}"),
            verdict: "code_verifier: does not fit"),
        PKCECase(
            testDescription: "only a verifier", verifier: verifier,
            verdict: "code_verifier: sent, but"),
    ]

    @Test(arguments: cases) func `the code verifier must match the code challenge`(_ row: PKCECase)
        async throws
    {
        let harness = try await EmulatorHarness()
        let announced = [("code_challenge", row.challenge), ("code_challenge_method", row.method)]
        let code = try await harness.code(
            EmulatorHarness.app,
            announced.compactMap { name, value in value.map { JSON.Member(name, $0) } })
        let sent = row.verifier.map { [("code_verifier", $0)] } ?? []
        let outcome = try await harness.exchange(code, as: EmulatorHarness.app, sent)
        if let verdict = row.verdict {
            #expect(outcome == Outcome("invalid_grant"))
            #expect(try await harness.verdict().hasPrefix(verdict))
        } else {
            #expect(outcome.status == 200)
        }
    }
}
