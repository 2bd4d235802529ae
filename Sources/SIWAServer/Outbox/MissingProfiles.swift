internal import SIWALifecycle
internal import Synchronization

/// The clients of due revocations that are in no profile.
final class MissingProfiles: Sendable {
    private let seen = Mutex<[ClientID: Duration]>([:])
    private let elapsed: @Sendable () -> Duration

    init(_ timekeeper: Timekeeper) { elapsed = timekeeper.elapsed }

    /// Notes that a revocation cannot be sent.
    func note(_ client: ClientID) { seen.withLock { $0[client] = elapsed() } }

    /// The clients that were noted lately, without those that have a profile now.
    func current(_ clients: ProfileClients) -> [ClientID] {
        let now = elapsed()
        return seen.withLock { seen in
            seen = seen.filter { now - $0.value < Self.lifetime && clients[$0.key] == nil }
            return Array(seen.keys)
        }
    }

    /// Longer than the longest wait between two attempts.
    private static let lifetime = Duration.seconds(2 * 3600)
}
