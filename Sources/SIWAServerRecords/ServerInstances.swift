internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

// The running servers. Their times are in milliseconds.
extension Database {
    /// Notes that a server is running, for the duration of its lease.
    func beat(_ server: ServerInstance) throws(DatabaseFailure) {
        _ = try run(
            """
            INSERT INTO server_instance (id, host, version, started_at, heartbeat_at, lease_until)
            VALUES ($1, $2, $3, \(dialect.moment), \(dialect.moment), \(dialect.moment) + $4)
            ON CONFLICT (id) DO UPDATE SET version = excluded.version,
                heartbeat_at = excluded.heartbeat_at, lease_until = excluded.lease_until
            """, .text(server.id), .text(server.host), .text(server.version), Self.lease)
    }

    /// Notes that a server has ended.
    func end(server id: String) throws(DatabaseFailure) {
        _ = try run("DELETE FROM server_instance WHERE id = $1", .text(id))
    }

    /// Removes servers that ended without noting it: all, or those whose lease ended a day ago.
    func removeEndedServers(all: Bool) throws(DatabaseFailure) {
        let condition = all ? "" : "WHERE lease_until < \(dialect.moment) - 86400000"
        _ = try run("DELETE FROM server_instance \(condition)")
    }

    /// The number of servers that are running, or were killed within the duration of a lease. A
    /// lease that ends later was noted while the clock was wrong.
    func runningServers() throws(DatabaseFailure) -> Int {
        try run(
            """
            SELECT count(*) FROM server_instance
            WHERE lease_until > \(dialect.moment) AND lease_until <= \(dialect.moment) + $1 + $1
            """, Self.lease
        ).first?.first?.integer ?? 0
    }

    private static var lease: Value {
        .integer(Int(ServerInstance.lease.components.seconds) * 1000)
    }
}
