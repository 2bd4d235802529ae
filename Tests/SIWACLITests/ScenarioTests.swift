import Testing

/// Every scenario of `Scenarios/`, each in a harness of its own.
@Suite struct ScenarioTests {
    @Test func `there are scenarios`() {
        #expect(Scenario.all.count > 100)
        #expect(Set(Scenario.all.map(\.testDescription)).count == Scenario.all.count)
    }

    @Test(arguments: Scenario.all) func plays(_ scenario: Scenario) async throws {
        var runner = try await ScenarioRunner(scenario)
        try await runner.play()
    }

    @Test func `what a scenario does not give fails the test that needs it`() async throws {
        let harness = try await CommandHarness()
        await withKnownIssue {
            let outcome = await harness.run(["refresh", "--token", "-"])
            #expect(outcome.exitCode == 3)
        } matching: {
            $0.description.contains("a line of stdin")
        }
    }

    @Test func `a secret that shows is noticed`() async throws {
        let outcome = Outcome(
            arguments: ["refresh"], exitCode: 1, output: "",
            errors: ["siwa: no: r-the-token", "hint: none"], sent: 0, written: [], trusted: [])
        withKnownIssue { Invariants(outcome, secrets: ["r-the-token"]).check() }
        Invariants(outcome, secrets: ["r-another-token"]).check()
    }
}
