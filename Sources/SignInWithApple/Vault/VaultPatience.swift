/// How long a vault may still keep its caller waiting.
public struct VaultPatience: Sendable {
    /// The time that is left. It is asked again while the vault waits, because a signal shortens it.
    public let remaining: @Sendable () -> Duration

    /// Wraps a limit that may change while the vault waits.
    public init(remaining: @escaping @Sendable () -> Duration) { self.remaining = remaining }

    /// Allows every statement this long, however many there are.
    public static func eachStatement(_ limit: Duration) -> Self { Self { limit } }
}
