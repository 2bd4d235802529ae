/// How long a call of a vault may wait for the database.
package struct VaultTimeout: Sendable {
    /// Returns the time that is left. It is called repeatedly during a wait, because a signal
    /// shortens it.
    package let remaining: @Sendable () -> Duration

    /// Creates a timeout that may become shorter during a wait.
    package init(remaining: @escaping @Sendable () -> Duration) { self.remaining = remaining }

    /// Creates a timeout for each statement, however many there are.
    package static func eachStatement(_ limit: Duration) -> Self { Self { limit } }
}
