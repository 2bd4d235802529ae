import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct TeamGrantTests {
    @Test func `the response has three members`() async throws {
        let outcome = try await EmulatorHarness().token([
            ("grant_type", "client_credentials"), ("scope", "user.migration"),
        ])
        #expect(outcome.status == 200)
        #expect(outcome.body.members?.map(\.name) == ["access_token", "token_type", "expires_in"])
        #expect(try outcome.text("access_token").hasPrefix("a"))
    }

    @Test(arguments: [("name email", "invalid_scope"), ("", "invalid_request")])
    func `another scope is refused`(_ scope: String, _ error: String) async throws {
        let outcome = try await EmulatorHarness().token([
            ("grant_type", "client_credentials"), ("scope", scope),
        ])
        #expect(outcome == Outcome(error))
    }
}
