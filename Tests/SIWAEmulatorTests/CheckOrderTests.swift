import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Each of these requests has two faults: the order of the checks decides which one is reported.
struct TwoFaults: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let parameters: [(String, String)]
    let credentialFirst: Outcome
    let clientFirst: Outcome
}

@Suite struct CheckOrderTests {
    static let rows = [
        TwoFaults(
            testDescription: "unknown code, bad secret",
            parameters: [("grant_type", "authorization_code"), ("code", "test code")],
            credentialFirst: Outcome("invalid_grant", "The code has expired or has been revoked."),
            clientFirst: Outcome("invalid_client")),
        TwoFaults(
            testDescription: "unknown refresh token, bad secret",
            parameters: [
                ("grant_type", "refresh_token"), ("refresh_token", "test refreshToken"),
            ],
            credentialFirst: Outcome(
                "invalid_grant", "The token has expired or has been revoked."),
            clientFirst: Outcome("invalid_client")),
        TwoFaults(
            testDescription: "unknown scope, bad secret",
            parameters: [("grant_type", "client_credentials"), ("scope", "name")],
            credentialFirst: Outcome("invalid_client"), clientFirst: Outcome("invalid_client")),
        TwoFaults(
            testDescription: "unknown grant, bad secret", parameters: [("grant_type", "password")],
            credentialFirst: Outcome("unsupported_grant_type"),
            clientFirst: Outcome("unsupported_grant_type")),
        TwoFaults(
            testDescription: "missing code, bad secret",
            parameters: [("grant_type", "authorization_code")],
            credentialFirst: Outcome("invalid_request"), clientFirst: Outcome("invalid_request")),
    ]

    @Test(arguments: rows)
    func `of two faults, the one that Apple checks first is reported: an invalid secret and`(
        _ row: TwoFaults
    ) async throws {
        let harness = try await EmulatorHarness()
        let parameters = row.parameters + [("client_secret", "clientSecret")]
        #expect(try await harness.token(parameters) == row.credentialFirst)
        try await harness.control("switches", ["order": "client_first"])
        #expect(try await harness.token(parameters) == row.clientFirst)
    }

    @Test(arguments: ["credential_first", "client_first"])
    func `an invalid secret does not use up a valid code`(_ order: String) async throws {
        let harness = try await EmulatorHarness(["order": .string(order)])
        let code = try await harness.code()
        let bad = [("client_secret", "x"), ("grant_type", "authorization_code"), ("code", code)]
        #expect(try await harness.token(bad) == Outcome("invalid_client"))
        #expect(try await harness.exchange(code).status == 200)
    }

    @Test func `a used code is checked before an expired one, and the client before both`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        _ = try await harness.exchange(code)
        try await harness.control("clock", ["offset": "6m"])
        try await harness.control("switches", ["clock_skew_tolerance": "1h"])
        let minted = try SecretDraft(at: EmulatorHarness.start + .seconds(360)).minted(
            by: harness.key)
        let again = [
            ("client_secret", minted), ("grant_type", "authorization_code"), ("code", code),
        ]
        #expect(
            try await harness.token(again)
                == Outcome("invalid_grant", "The code has already been used."))
        let other = try SecretDraft(EmulatorHarness.web, at: EmulatorHarness.start + .seconds(360))
            .minted(by: harness.key)
        let stolen = [
            ("client_secret", other), ("grant_type", "authorization_code"), ("code", code),
        ]
        let outcome = try await harness.token(stolen, as: EmulatorHarness.web)
        #expect(try outcome.text("error_description").hasPrefix("client_id mismatch."))
    }
}
