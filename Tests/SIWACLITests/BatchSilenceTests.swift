import AppleEmulator
import JOSE
import Testing

/// What a batch says while Apple gives no usable answer.
@Suite struct BatchSilenceTests {
    @Test(arguments: ["refresh", "revoke"])
    func `a batch that gets no usable answer for two minutes says so`(
        _ command: String
    ) async throws {
        let harness = try await CommandHarness(timekeeper: Stopwatch().timekeeper)
        harness.memory.with { $0.input = Array("r-hush-1\n".utf8) }
        // Asked again after 100 s and 200 s; then the run gives up.
        let fault: JSON = ["status": 429, "headers": ["Retry-After": "100"], "count": 9]
        _ = try await harness.emulator.control("faults", fault)
        let outcome = await harness.run(["batch", command, "--input", "-"])
        #expect(outcome.exitCode == 75, "\(outcome)")
        let warnings = outcome.errors.filter { $0.contains("no request has succeeded") }
        #expect(
            warnings == [
                "siwa: warning: no request has succeeded for 2 minutes; still trying"
            ], "\(outcome)")
        #expect(outcome.sent == 3)
    }

    @Test func `a pause that Apple asks for is nothing to warn of`() async throws {
        let harness = try await CommandHarness(timekeeper: Stopwatch().timekeeper)
        harness.memory.with { $0.input = Array("r-hush-1\n".utf8) }
        let fault: JSON = ["status": 429, "headers": ["Retry-After": "100"], "count": 1]
        _ = try await harness.emulator.control("faults", fault)
        let outcome = await harness.run(["batch", "revoke", "--input", "-"])
        #expect(outcome.exitCode == 0 && outcome.errors.count == 1, "\(outcome)")
    }
}
