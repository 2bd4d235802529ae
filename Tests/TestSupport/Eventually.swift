/// Waits until `condition` is true, for changes by another thread or process.
///
/// - Parameter pause: the longest time between two looks; the first are shorter.
/// - Throws: ``NeverHappened`` after `limit`, which only a failing test reaches.
package func eventually(
    _ what: String, limit: Duration = .seconds(120), pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + limit
    var next = Duration.milliseconds(1)
    while try await !condition() {
        guard clock.now < end else { throw NeverHappened(description: "\(what): never happened") }
        try await clock.sleep(for: next)
        next = min(next * 2, pause)
    }
}

/// A condition that a test waited for did not become true.
package struct NeverHappened: Error, CustomStringConvertible {
    /// The condition.
    package let description: String
}
