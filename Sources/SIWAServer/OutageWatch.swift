internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords

/// Asks the endpoints of Apple again that did not work when they were last asked. Of nothing else the
/// end of an outage would be known on a server that has nothing to send, which is most of them at night.
struct OutageWatch: Sendable {
    private let metrics: Metrics
    private let clients: @Sendable () -> ProfileClients
    private let clock: AppleClock

    init(
        _ metrics: Metrics, clients: @escaping @Sendable () -> ProfileClients, clock: AppleClock
    ) {
        (self.metrics, self.clients, self.clock) = (metrics, clients, clock)
    }

    /// Asks each of them, at most once a minute. Revocations that wait are tried again by themselves.
    func askAgain() async {
        let outages = metrics.outages
        guard !outages.isEmpty else { return }
        let clients = clients()
        if let outage = outages.first(where: { $0.endpoint == "token" }) {
            let client = clients.all.first { $0.name == outage.profile } ?? clients.asking
            await clock.ask(as: client) { client in
                // Whatever Apple says about this code, it answers.
                _ = try? await client.tokens(maxAttempts: 1, limit: ClockSkew.maxRoundTrip)
                    .exchange(.neverIssued)
            }
        } else {
            await clock.ask(as: clients.asking)
        }
    }
}
