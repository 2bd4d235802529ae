package import SIWAJOSE
package import SIWALifecycle

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

extension [ServerRecord] {
    /// Without servers that have fallen silent and whose listeners a later one on the same machine
    /// has: only an end frees them.
    var withoutReplaced: Self {
        filter { record in
            guard record.silence > ServerInstance.longestSilence,
                let listeners = record.facts?.listeners, !listeners.isEmpty
            else { return true }
            return !contains {
                $0.server.host == record.server.host && $0.startedAt > record.startedAt
                    && $0.silence <= ServerInstance.longestSilence
                    && $0.facts?.listeners == listeners
            }
        }
    }
}

/// What the database knows of servers and their work, read in one transaction.
package struct ServerSurvey: Sendable {
    /// The version of the vault's tables.
    package var vaultVersion: Int?
    /// The version of siwa-server's tables; nil without them.
    package var serverVersion: Int?
    /// Why nothing can be changed: the vault is moving to another database, or was moved; nil if it
    /// was not.
    package var move: StoreError?
    /// The running servers, by the names of their hosts.
    package var servers: [ServerRecord] = []
    /// The reader's machine, if its configuration has a server that does not run. Set by the reader.
    package var hostWithoutServer: String?
    /// Whether a server runs on the reader's machine although no row shows it. Set by the reader.
    package var hasUnseenServer = false
    /// Whether the vault is an SQLite file. Set by the reader.
    package var isInFile = true
    /// The free bytes where an SQLite vault is, measured by the reader; nil if that is unknown.
    package var freeSpace: Int?
    /// The numbers of records; nil if the database is unavailable.
    package var counts: ServerCounts?
    /// The last 24 hours, the oldest first; hours without events are missing.
    package var activity: [HourlyActivity] = []

    /// Nothing is known.
    package init() {}
}
