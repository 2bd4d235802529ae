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
}
