internal import SIWADatabases
package import SIWAJOSE
package import SIWALifecycle

/// A pass of the daily validation, which all servers on a database share: every token that was not
/// checked since its begin is checked once, by one of them.
package struct ValidationPass: Hashable, Sendable {
    /// When it began, by the database's clock.
    package let began: NumericDate
    /// Now, by the database's clock.
    package let now: NumericDate
    /// The number of running servers, at least 1.
    package let servers: Int

    /// Creates a value.
    package init(began: NumericDate, now: NumericDate, servers: Int) {
        (self.began, self.now, self.servers) = (began, now, servers)
    }
}

extension ServerStore {
    /// The current pass of the daily validation; begins the next one if it is due.
    ///
    /// - Parameter interval: the time between the begins of two passes, in whole seconds.
    package func validationPass(every interval: Duration) throws(StoreError) -> ValidationPass {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.validationPass(every: interval)
        }
    }
}

extension Database {
    /// A pass that began in the future was begun while the clock was wrong.
    fileprivate func validationPass(
        every interval: Duration
    ) throws(DatabaseFailure) -> ValidationPass {
        let now = dialect.now
        _ = try run(
            """
            INSERT INTO server_count (name, value) VALUES ('validation_began_at', \(now))
            ON CONFLICT (name) DO UPDATE SET value =
                CASE WHEN server_count.value > \(now) - $1 - $1
                        AND server_count.value <= \(now) - $1
                    THEN server_count.value + $1 ELSE \(now) END
            WHERE server_count.value <= \(now) - $1 OR server_count.value > \(now)
            """, .integer(Int(interval.components.seconds)))
        let row = try run(
            "SELECT value, \(now) FROM server_count WHERE name = 'validation_began_at'"
        ).first
        guard let began = row?.first?.integer, let now = row?.last?.integer else {
            throw DatabaseFailure(.damaged, "the begin of the daily validation is not stored")
        }
        return ValidationPass(
            began: NumericDate(began), now: NumericDate(now), servers: max(try runningServers(), 1))
    }
}
