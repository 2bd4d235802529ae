/// How long a call of a vault may wait for the database.
package struct StoreTimeout: Sendable {
    /// Returns the remaining time. It is called repeatedly during a wait, because a signal shortens
    /// it.
    package let remaining: @Sendable () -> Duration

    /// Creates a timeout that may become shorter during a wait.
    package init(remaining: @escaping @Sendable () -> Duration) { self.remaining = remaining }

    /// Creates a timeout for each statement, without a limit for all of them.
    package static func eachStatement(_ limit: Duration) -> Self { Self { limit } }
}
