import SIWAJOSE
import SIWALifecycle
import Testing

/// What a batch of refreshes writes of Apple's answers.
@Suite struct BatchRefreshTests {
    @Test func `a member of Apple's response never replaces a member of the result`() async throws {
        var harness = try await CommandHarness()
        harness.carrier = ScriptedApple { _ in
            HTTPResponse(
                status: 200,
                body: Array(
                    #"""
                    {"access_token": "a", "token_type": "Bearer", "expires_in": 3600, "line": 9,
                    "id": "theirs", "status": "refused", "exit_code": 1, "token_fingerprint": "f",
                    "more": 2}
                    """#.utf8))
        }
        harness.memory.with { $0.input = Array(#"{"id": "ours", "token": "r-1"}"#.utf8) }
        let outcome = await harness.run(["batch", "refresh", "--input", "-"])
        #expect(outcome.exitCode == 0, "\(outcome)")
        let result = try JSON(Array(outcome.output.utf8))
        #expect(result["line"] == 1 && result["id"] == "ours" && result["status"] == "done")
        #expect(result["exit_code"] == 0 && result["token_fingerprint"] != "f")
        #expect(result["more"] == 2, "other members are handed on")
        let names = result.members?.map(\.name) ?? []
        #expect(Set(names).count == names.count, "none is there twice: \(names)")
    }
}
