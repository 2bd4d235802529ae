package import JOSE
package import Lifecycle

/// What the database holds, as the gauges show it.
package struct ServerCounts: Hashable, Sendable {
    /// How many events there are of each state.
    package var inbox: [InboxState: Int] = [:]
    /// How long the oldest pending event has waited; nil without pending events.
    package var oldestPendingEvent: Duration?
    /// How many requests to revoke there are of each state.
    package var revocations: [RevocationJob.State: Int] = [:]
    /// How long the oldest pending request has waited; nil without pending requests.
    package var oldestPendingRevocation: Duration?
    /// How many tokens of each state there are, by client; counted within the last minute.
    package var tokens: [ClientID: [VaultState: Int]] = [:]

    /// All zero.
    package init() {}
}

/// How much happened within an hour.
package struct HourlyActivity: Hashable, Sendable {
    /// When the hour began.
    package let begin: NumericDate
    /// How often each thing happened.
    package var counts: [Kind: Int]

    /// What is counted.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A new event was received.
        case received
        /// The application accepted an event.
        case delivered
        /// An event was given up.
        case undelivered
        /// A request to revoke came in.
        case requested
        /// A request to revoke ended with its tokens revoked.
        case revoked
        /// A request to revoke ended in another way.
        case unrevoked
    }

    /// Describes an hour.
    package init(begin: NumericDate, counts: [Kind: Int]) {
        (self.begin, self.counts) = (begin, counts)
    }
}
