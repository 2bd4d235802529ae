import Testing

/// Every scenario of `Scenarios/`, each in a harness of its own.
@Suite struct ScenarioTests {
    @Test func `the scenarios are found, and their names are unique`() {
        #expect(Scenario.all.count > 100)
        #expect(Set(Scenario.all.map(\.testDescription)).count == Scenario.all.count)
    }

    @Test(arguments: Scenario.all) func `siwa does what the scenario states`(_ scenario: Scenario)
        async throws
    {
        var runner = try await ScenarioRunner(scenario)
        try await runner.play()
    }

    @Test func `missing input of a scenario fails the test`() async throws {
        let harness = try await CommandHarness()
        await withKnownIssue {
            let outcome = await harness.run(["refresh", "--token", "-"])
            #expect(outcome.exitCode == 3)
        } matching: {
            $0.description.contains("a line of stdin")
        }
    }

    @Test func `a visible secret is reported`() async throws {
        let outcome = Outcome(
            arguments: ["refresh"], exitCode: 1, output: "",
            errors: ["siwa: no: r-the-token", "hint: none"], sent: 0, written: [], trusted: [])
        withKnownIssue { Invariants(outcome, secrets: ["r-the-token"]).check() }
        Invariants(outcome, secrets: ["r-another-token"]).check()
    }
}
