internal import SIWALifecycle
internal import Synchronization

/// The clients of pending revocations that are in no profile.
final class MissingProfiles: Sendable {
    private let seen = Mutex<Set<ClientID>>([])

    /// Notes that a revocation cannot be sent.
    func note(_ client: ClientID) { seen.withLock { _ = $0.insert(client) } }

    /// Whether any was noted.
    var isUsed: Bool { seen.withLock { !$0.isEmpty } }

    /// Forgets all but these.
    func keep(_ clients: [ClientID]) { seen.withLock { $0.formIntersection(clients) } }

    /// The clients that were noted, without those that have a profile now.
    func current(_ clients: ProfileClients) -> [ClientID] {
        seen.withLock { seen in
            seen = seen.filter { clients[$0] == nil }
            return Array(seen)
        }
    }
}
