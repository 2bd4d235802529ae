import Testing

/// Every scenario of `Scenarios/`, each on a desk of its own.
@Suite struct ScenarioTests {
    @Test func `there are scenarios`() {
        #expect(Scenario.all.count > 100)
        #expect(Set(Scenario.all.map(\.testDescription)).count == Scenario.all.count)
    }

    @Test(arguments: Scenario.all) func plays(_ scenario: Scenario) async throws {
        var performance = try await Performance(scenario)
        try await performance.play()
    }

    @Test func `what a scenario does not give fails the test that needs it`() async throws {
        let desk = try await Desk()
        await withKnownIssue {
            let outcome = await desk.run(["refresh", "--token", "-"])
            #expect(outcome.exitCode == 3)
        } matching: {
            $0.description.contains("a line of stdin")
        }
    }

    @Test func `a secret that shows is noticed`() async throws {
        let outcome = Outcome(
            arguments: ["refresh"], exitCode: 1, output: "",
            errors: ["siwa: no: r-the-token", "hint: none"], sent: 0, written: [], trusted: [])
        withKnownIssue { Manners(outcome, secrets: ["r-the-token"]).check() }
        Manners(outcome, secrets: ["r-another-token"]).check()
    }
}
