package import SIWAJOSE

/// A running server, as its row shows it.
package struct ServerRecord: Hashable, Sendable {
    /// The server.
    package let server: ServerInstance
    /// When it started.
    package let startedAt: NumericDate
    /// When it last wrote its row.
    package let heartbeatAt: NumericDate
    /// How long ago that was, by the clock that wrote it.
    package let silence: Duration
    /// What it knows; nil just after its start, or if an older version wrote the row.
    package var facts: ServerFacts?

    /// Creates a record.
    package init(
        _ server: ServerInstance, startedAt: NumericDate, heartbeatAt: NumericDate,
        silence: Duration, facts: ServerFacts?
    ) {
        (self.server, self.startedAt, self.silence) = (server, startedAt, silence)
        (self.heartbeatAt, self.facts) = (heartbeatAt, facts)
    }
}

/// What the database knows of servers and their work, read in one transaction.
package struct ServerSurvey: Sendable {
    /// The version of the vault's tables.
    package var vaultVersion: Int?
    /// The version of siwa-server's tables; nil without them.
    package var serverVersion: Int?
    /// The running servers, by the names of their hosts.
    package var servers: [ServerRecord] = []
    /// The free bytes where an SQLite vault is, measured by the reader; nil if that is unknown.
    package var freeSpace: Int?
    /// The numbers of records; nil if the database is unavailable.
    package var counts: ServerCounts?
    /// The last 24 hours, the oldest first; hours without events are missing.
    package var activity: [HourlyActivity] = []

    /// Nothing is known.
    package init() {}
}
