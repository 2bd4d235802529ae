/// How long a vault may still keep its caller waiting.
package struct VaultPatience: Sendable {
    /// The time that is left. It is asked again while the vault waits, because a signal shortens it.
    package let remaining: @Sendable () -> Duration

    /// Wraps a limit that may change while the vault waits.
    package init(remaining: @escaping @Sendable () -> Duration) { self.remaining = remaining }

    /// Allows every statement this long, however many there are.
    package static func eachStatement(_ limit: Duration) -> Self { Self { limit } }
}
