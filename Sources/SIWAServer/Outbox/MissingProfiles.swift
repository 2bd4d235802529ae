internal import Lifecycle
internal import Synchronization

/// The clients of due revocations that are in no profile.
final class MissingProfiles: Sendable {
    private let seen = Mutex<[ClientID: Duration]>([:])
    private let elapsed: @Sendable () -> Duration

    init(_ timekeeper: Timekeeper) { elapsed = timekeeper.elapsed }

    /// Notes that a revocation cannot be sent.
    func note(_ client: ClientID) { seen.withLock { $0[client] = elapsed() } }

    /// The clients that were noted lately: a revocation is due again when its lease ends.
    var current: [ClientID] {
        let now = elapsed()
        return seen.withLock { seen in
            seen = seen.filter { now - $0.value < leaseDuration * 3 }
            return Array(seen.keys)
        }
    }
}
