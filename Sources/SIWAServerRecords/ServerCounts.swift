package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// The numbers of records in the database, for the gauges.
package struct ServerCounts: Hashable, Sendable {
    /// The number of events in each state.
    package var inbox: [InboxState: Int] = [:]
    /// How long ago the oldest pending event was received; nil without pending events.
    package var oldestPendingEvent: Duration?
    /// When pending events are sent; nil without pending events.
    package var eventAttempts: Attempts?
    /// The pending events whose delivery has failed; nil without any.
    package var failingEvents: Failing?
    /// The number of requests to revoke in each state.
    package var revocations: [RevocationJob.State: Int] = [:]
    /// The dead requests that an operator has to look at, at most ``Failing/most``: without those
    /// whose tokens were erased with their user.
    package var givenUp = 0
    /// How long the oldest pending request has waited; nil without pending requests.
    package var oldestPendingRevocation: Duration?
    /// When pending revocations are sent; nil without pending revocations.
    package var revocationAttempts: Attempts?
    /// How long ago the token was touched that has been `revoking` longest, although no request to
    /// revoke is pending: a run was interrupted. Nil without such a token.
    package var oldestUnfinished: Duration?
    /// The number of tokens in each state, by client.
    package var tokens: [ClientID: [VaultState: Int]] = [:]
    /// When ``tokens`` were counted; nil if they never were.
    package var tokensCountedAt: NumericDate?
    /// When a stored token was last validated; nil if none was.
    package var lastValidation: NumericDate?
    /// The last check of the whole vault; nil if there was none.
    package var vaultCheck: VaultCheck?

    /// A check of the whole vault.
    package struct VaultCheck: Hashable, Sendable {
        /// When it ended, by the database's clock.
        package let at: NumericDate
        /// The number of faults that it found.
        package let faults: Int

        /// Creates a value.
        package init(at: NumericDate, faults: Int) { (self.at, self.faults) = (at, faults) }
    }

    /// Waiting work that has failed.
    package struct Failing: Hashable, Sendable {
        /// How much of it there is, at most ``most``.
        package let count: Int
        /// The most failed attempts for one.
        package let attempts: Int

        /// More is not counted, because that would take long.
        package static let most = 1000

        /// Creates a value.
        package init(count: Int, attempts: Int) { (self.count, self.attempts) = (count, attempts) }
    }

    /// When waiting work is tried next.
    package struct Attempts: Hashable, Sendable {
        /// The first attempt of all.
        package let next: NumericDate
        /// The next attempt of the work that waits longest.
        package let last: NumericDate

        /// Creates a value.
        package init(next: NumericDate, last: NumericDate) {
            (self.next, self.last) = (next, last)
        }
    }

    /// All zero.
    package init() {}
}

/// The numbers of events and revocations within an hour.
package struct HourlyActivity: Hashable, Sendable {
    /// When the hour began.
    package let begin: NumericDate
    /// The count of each kind.
    package var counts: [Kind: Int]

    /// What is counted.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A new event was received.
        case received
        /// The application accepted an event.
        case delivered
        /// An event became dead.
        case undelivered
        /// A request to revoke was received.
        case requested
        /// A request to revoke ended: its tokens are revoked.
        case revoked
        /// A request to revoke ended in another way.
        case unrevoked
    }

    /// Creates the counts of an hour.
    package init(begin: NumericDate, counts: [Kind: Int]) {
        (self.begin, self.counts) = (begin, counts)
    }
}
