import Glibc
import SIWADatabases
import SIWALifecycle
import SIWAVaultRecords

/// The cost of several processes that revoke the tokens of one vault on PostgreSQL: claims,
/// requests, notes and results. nginx takes the place of Apple.
struct WorkersBenchmark {
    let fixture: Fixture
    let postgres: PostgresServer
    let records: Int

    /// Measures so many workers, one vault for each; then eight, three of which are killed.
    ///
    /// - Throws: ``BenchmarkError`` if a record was lost, or revoked by two workers.
    func run(_ counts: [Int]) throws {
        let input = try VaultInput(records, in: fixture.path)
        try postgres.run("CREATE DATABASE \(Self.filled)")
        try place.make(siwa, postgres.url(of: Self.filled))
        _ = try Child.run([siwa, "vault", "import", input.tokens, "-q"])
        print(
            "\n\(records) tokens revoked on one PostgreSQL; us a record of siwa's processors + the "
                + "server's, against one worker; transactions and KB of WAL a record; (from start to "
                + "end); what the server's sessions were seen doing\n")
        var first: Cost?
        for (count, victims) in counts.map({ ($0, 0) }) + [(8, 3)] {
            let cost = try measure(count, killing: victims)
            first = first ?? cost
            print(
                "\(count) workers\(victims > 0 ? ", \(victims) of them killed" : ""): "
                    + cost.line(against: first ?? cost))
            fflush(nil)
        }
    }

    private static let filled = "filled"
    private static let used = "used"

    private var siwa: String { fixture.program("siwa") }
    private var place: VaultPlace { VaultPlace(fixture.path) }
    private var results: String { fixture.file("results") }

    /// The cost of a record.
    private struct Cost {
        let siwa, server, wall, transactions, log: Double
        let activities: String

        func line(against first: Self) -> String {
            "\(shown(siwa, digits: 1)) + \(shown(server, digits: 1)), "
                + "\(shown(siwa / first.siwa, digits: 2))x + "
                + "\(shown(server / first.server, digits: 2))x; "
                + "\(shown(transactions, digits: 3)), \(shown(log, digits: 2)) "
                + "(\(shown(wall, digits: 1))); \(activities)"
        }
    }

    private func measure(_ count: Int, killing victims: Int) throws -> Cost {
        let url = try makeVault()
        _ = try Child.run(["sh", "-c", "rm -rf \(results) && mkdir -m 700 \(results)"])
        let watch = try ActivityWatch(postgres, fixture.file("activities"))
        let (before, start) = (try counters(), now())
        let workers = try (0..<count).map { try Child.start(command($0), isQuiet: true) }
        if victims > 0 {
            try waitForResults()
            for victim in workers.prefix(victims) { kill(victim, SIGKILL) }
        }
        var cpu = 0.0
        for (number, worker) in workers.enumerated() {
            let ended = Child.wait(for: worker)
            cpu += ended.cpuSeconds
            guard ended.status == 0 || number < victims else {
                throw BenchmarkError("worker \(number) failed (\(ended.status))")
            }
        }
        let (end, after) = (now(), try counters())
        let activities = try watch.end()
        if victims > 0 { try finish(url, count) }
        try check(url, victims)
        let share = 1e6 / Double(records)
        return Cost(
            siwa: cpu * share, server: (after.cpu - before.cpu) * share,
            wall: (end - start) * share,
            transactions: (after.transactions - before.transactions) / Double(records),
            log: (after.log - before.log) / Double(records) / 1000, activities: activities)
    }

    /// A copy of the vault that was filled.
    private func makeVault() throws -> String {
        try postgres.run("DROP DATABASE IF EXISTS \(Self.used)")
        try postgres.run(
            "CREATE DATABASE \(Self.used) TEMPLATE \(Self.filled) STRATEGY file_copy")
        try postgres.run("CHECKPOINT")
        let url = postgres.url(of: Self.used)
        place.use(url)
        return url
    }

    private func command(_ number: Int) -> [String] {
        [
            siwa, "batch", "revoke", "--vault", "--output", "\(results)/\(number)",
            "--key", fixture.file("AuthKey.p8"), "--key-id", "K1L2M3N4P5", "--team-id",
            Fixture.team.rawValue, "--client-id", Fixture.client.rawValue, "--base-url",
            "https://localhost:\(Fixture.port)", "--ca-file", fixture.file("ca.pem"),
            "--concurrency", "50", "--lease", "60s", "--timeout", "10m", "--quiet",
        ]
    }

    private func counters() throws -> (cpu: Double, transactions: Double, log: Double) {
        let numbers = try postgres.run(
            """
            SELECT xact_commit FROM pg_stat_database WHERE datname = '\(Self.used)'
            UNION ALL SELECT pg_current_wal_lsn() - '0/0'::pg_lsn
            """
        ).split(separator: "\n").compactMap { Double($0) }
        guard numbers.count == 2 else { throw BenchmarkError("PostgreSQL counts nothing") }
        return (postgres.cpuSeconds, numbers[0], numbers[1])
    }

    /// Waits until about a quarter of the results are written: a line has some 200 bytes.
    private func waitForResults() throws {
        let size = "cat \(results)/* 2>/dev/null | wc -c"
        while Int(try Child.run(["sh", "-c", size]).output.trimmed) ?? 0 < records * 50 {
            usleep(100_000)
        }
    }

    /// Revokes the tokens of the killed workers after their leases have expired.
    private func finish(_ url: String, _ count: Int) throws {
        let store = try place.vault(url).store
        for number in count..<count + 60 {
            let held = try store.leasedByOthers(than: "", VaultFilter(clientID: Fixture.client))
            if held.count > 0 {
                sleep(UInt32(held.remaining.components.seconds) + 1)
                continue
            }
            _ = try Child.run(command(number))
            return
        }
        throw BenchmarkError("leases do not end")
    }

    /// Every token is revoked, its history says so, and no two workers have a result about it. The
    /// last results of a worker that is killed are lost.
    private func check(_ url: String, _ victims: Int) throws {
        let counts = try place.vault(url).store.counts(of: nil)
        guard counts == [.revoked: records] else {
            throw BenchmarkError("not every token was revoked: \(counts)")
        }
        let noted = try postgres.run(
            """
            SELECT count(DISTINCT token_fingerprint) FROM vault_history WHERE event = 'revoked'
            """, at: url)
        let ids = "cat \(results)/* | grep -o '\"id\":\"[^\"]*\"' | sort"
        let total = try Child.run(["sh", "-c", "\(ids) | wc -l"]).output.trimmed
        let different = try Child.run(["sh", "-c", "\(ids) | uniq | wc -l"]).output.trimmed
        guard Int(noted.trimmed) == records, total == different,
            Int(total) == records || victims > 0
        else {
            throw BenchmarkError(
                "\(noted.trimmed) revocations are in the history; \(total) results, of "
                    + "\(different) tokens")
        }
        print("checked: \(records) revoked, \(total) results, no token twice")
    }
}

/// Looks every second what the sessions of siwa are doing.
private struct ActivityWatch {
    private let pid: pid_t
    private let file: String

    init(_ postgres: PostgresServer, _ file: String) throws {
        self.file = file
        let commands = try Lines("\(file).sql")
        try commands.write(
            """
            SELECT coalesce(wait_event_type, 'processor') FROM pg_stat_activity
            WHERE application_name = 'siwa' \\watch 1

            """)
        try commands.close()
        pid = try Child.start([
            "sh", "-c", "exec psql -qAtX -d '\(postgres.url)' -f \(file).sql > \(file)",
        ])
    }

    /// Ends it.
    ///
    /// - Returns: the share of each activity.
    func end() throws -> String {
        Child.end(pid)
        let lines = try Child.run(["cat", file]).output.split(separator: "\n")
        let words = [
            "processor": "computing", "Client": "waiting for siwa", "LWLock": "waiting for memory",
            "Lock": "waiting for rows", "IO": "waiting for the disk", "IPC": "waiting for others",
        ]
        let counts = Dictionary(
            lines.compactMap { words[String($0)] }.map { ($0, 1) }, uniquingKeysWith: +)
        let total = counts.values.reduce(0, +)
        return counts.sorted { $0.value > $1.value }
            .map { "\($0.key) \($0.value * 100 / max(total, 1)) %" }.joined(separator: ", ")
    }
}
