/// Waits until `condition` holds: for what another thread or process does.
///
/// - Throws: ``NeverHappened`` after `limit`, which only a failing test reaches.
package func eventually(
    _ what: String, limit: Duration = .seconds(120), _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while try await !condition() {
        guard clock.now < end else { throw NeverHappened(description: "\(what): never happened") }
        try await clock.sleep(for: .milliseconds(2))
    }
}

/// What a test waited for did not come.
package struct NeverHappened: Error, CustomStringConvertible {
    /// What was waited for.
    package let description: String
}
