internal import SIWALifecycle
import SIWAServerRecords

/// How fast a server validates the tokens of a client: a pure value.
///
/// A pass takes nine tenths of its time, so that it ends before the next one begins. It is never
/// slower than 1,440 checks a pass, once a minute in a day: refusals are held back until 200 more
/// answers have come, and a small vault must not wait for days.
struct ValidationPace: Hashable, Sendable {
    /// The settings.
    let settings: ValidationSettings
    /// The number of active tokens of each client.
    var tokens: [ClientID: Int] = [:]
    /// The number of servers that share the work.
    var servers = 1

    /// The time between two checks of a client's tokens by this server.
    func interval(of clientID: ClientID) -> Duration {
        let own = max(tokens[clientID] ?? 0, 1)
        let all = max(tokens.values.reduce(0, +), own)
        let slowest = settings.interval / 1440
        let even = settings.interval * 0.9 / Double(own)
        let allowed = Duration.seconds(Double(all) / (Double(own) * Double(settings.perSecond)))
        // The share of a small client in the rate would be too small; it hardly matters.
        let isShared = max(min(even, slowest), min(allowed, slowest))
        return max(isShared, .seconds(1) / settings.perSecond) * max(servers, 1)
    }

    /// The number of records that are leased at once: at this pace, they are sent well before their
    /// lease ends.
    func size(of clientID: ClientID, lease: Duration, concurrency: Int) -> Int {
        let most = Int(lease / 4 / interval(of: clientID))
        return max(1, min(2 * concurrency, most))
    }
}
