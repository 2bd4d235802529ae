import SIWALifecycle
import Testing

/// What a batch says while Apple gives no usable answer.
@Suite struct BatchSilenceTests {
    private static let token = "r0123456789abcdef0123456789abcdef.0.msux.AbCdEfGhIjKlMnOpQrSt-1"

    @Test(arguments: ["refresh", "revoke"])
    func `a batch without a usable response for two minutes prints a warning`(
        _ command: String
    ) async throws {
        var harness = try await CommandHarness()
        // Asked again after 100 s and 200 s; then the run gives up.
        harness.carrier = ScriptedApple.throttling(9)
        harness.memory.with { $0.input = Array((Self.token + "\n").utf8) }
        let outcome = await harness.run(["batch", command, "--input", "-"])
        #expect(outcome.exitCode == 75, "\(outcome)")
        let warnings = outcome.errors.filter { $0.contains("no request has succeeded") }
        #expect(
            warnings == [
                "siwa: warning: no request has succeeded for 2 minutes; still trying"
            ], "\(outcome)")
    }

    @Test func `a shorter pause that Apple requests causes no warning`() async throws {
        var harness = try await CommandHarness()
        harness.carrier = ScriptedApple.throttling(1)
        harness.memory.with { $0.input = Array((Self.token + "\n").utf8) }
        let outcome = await harness.run(["batch", "revoke", "--input", "-"])
        #expect(outcome.exitCode == 0 && outcome.errors.count == 1, "\(outcome)")
    }
}

extension ScriptedApple {
    /// Asks the first `count` requests to come again in 100 s.
    fileprivate static func throttling(_ count: Int) -> ScriptedApple {
        ScriptedApple {
            $0 > count
                ? HTTPResponse(status: 200)
                : HTTPResponse(status: 429, fields: [HTTPField("Retry-After", "100")])
        }
    }
}
