internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// The running servers. Their times are in milliseconds.
extension Database {
    /// Notes that a server is running, for the duration of its lease, and what it knows.
    func beat(_ server: ServerInstance, _ facts: ServerFacts?) throws(DatabaseFailure) {
        let text = facts.map { Value.text(JSON.object($0.members).text) } ?? .null
        _ = try run(
            """
            INSERT INTO server_instance
                (id, host, version, started_at, heartbeat_at, lease_until, facts)
            VALUES ($1, $2, $3, \(dialect.moment), \(dialect.moment), \(dialect.moment) + $4, $5)
            ON CONFLICT (id) DO UPDATE SET version = excluded.version,
                heartbeat_at = excluded.heartbeat_at, lease_until = excluded.lease_until,
                facts = excluded.facts
            """, .text(server.id), .text(server.host), .text(server.version), Self.lease, text)
    }

    /// The running servers. Rows that cannot be read are left out.
    func servers() throws(DatabaseFailure) -> [ServerRecord] {
        try run(
            """
            SELECT id, host, version, started_at, heartbeat_at, \(dialect.moment) - heartbeat_at, facts
            FROM server_instance
            WHERE lease_until > \(dialect.moment) AND lease_until <= \(dialect.moment) + $1 + $1
            ORDER BY host, id
            """, Self.lease
        ).compactMap { row in
            var row = CheckedRow(row)
            guard let id = try? row.text("id"), let host = try? row.text("host"),
                let version = try? row.text("version"),
                let startedAt = try? row.optionalMoment("started_at"),
                let heartbeatAt = try? row.optionalMoment("heartbeat_at"),
                let silence = try? row.next().integer
            else { return nil }
            return ServerRecord(
                ServerInstance(id: id, host: host, version: version), startedAt: startedAt,
                heartbeatAt: heartbeatAt, silence: .milliseconds(max(silence, 0)),
                facts: (try? row.text("facts")).flatMap { try? JSON(text: $0) }.map(
                    ServerFacts.init))
        }
    }

    /// When a stored token was last validated. Reads the tokens of each state that were touched last,
    /// for which there is an index, and not all of them.
    func lastValidation(of clients: [String]) throws(DatabaseFailure) -> NumericDate? {
        var last: NumericDate?
        let states = VaultState.allCases
        for (client, state) in clients.flatMap({ client in states.map { (client, $0) } }) {
            let row = try run(
                """
                SELECT max(checked_at) FROM (
                    SELECT checked_at FROM vault_token
                    WHERE client_id = $1 AND state = $2
                    ORDER BY lease_until DESC, user_id DESC LIMIT 100
                ) AS touched
                """, .text(client), .text(state.rawValue)
            ).first
            guard let date = row?.first?.integer.map({ NumericDate($0) }), date.isWritable
            else { continue }
            last = max(last ?? date, date)
        }
        return last
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
