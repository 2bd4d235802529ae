import Glibc
import SIWACrypto
import SIWADatabases
import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords

/// The cost of a record of a vault, by the size of the vault. It should not grow with the size.
struct VaultBenchmark {
    /// The program, as it was built.
    let siwa: String
    /// Where vaults and inputs are made; removed by the caller.
    let folder: String
    /// Nil leaves PostgreSQL out.
    let postgres: PostgresServer?
    let rounds: Int

    /// Measures vaults of these sizes, and prints a table for each database, or for one.
    func run(_ sizes: [Int], of only: String?) throws {
        let inputs = try sizes.map { try VaultInput($0, in: folder) }
        let places =
            [("SQLite", "sqlite:\(folder)/vault.db", nil)]
            + (postgres.map { [("PostgreSQL", $0.url, $0)] } ?? [])
        guard only == nil || places.contains(where: { $0.0 == only }) else {
            throw BenchmarkError("DATABASE is one of \(places.map(\.0).joined(separator: ", "))")
        }
        for (name, url, server) in places where only == nil || only == name {
            try compare(name, inputs, url, server)
        }
    }

    /// The cost of one command.
    private struct Cost {
        let name: String
        /// Medians of the rounds, a record, in microseconds: from start to end, and of processors.
        let wall, siwa, server: Double
        /// In MiB.
        let peak: Double

        var cpu: Double { siwa + server }
    }

    private struct Sample {
        let seconds, siwa: Double
        /// Of the database's server.
        var server = 0.0
        let peak: Int
    }

    private func compare(
        _ name: String, _ inputs: [VaultInput], _ url: String, _ server: PostgresServer?
    ) throws {
        var columns: [[Cost]] = []
        for input in inputs { columns.append(try costs(input, url, server)) }
        let first = columns[0]
        print(
            "\n\(name): us a record of siwa's processor + the server's, against "
                + "\(inputs[0].count) records; (from start to end); MiB\n")
        for row in first.indices {
            let cells = columns.map { column in
                let cost = column[row]
                return "\(shown(cost.siwa, digits: 2)) + \(shown(cost.server, digits: 2)), "
                    + "\(shown(cost.cpu / first[row].cpu, digits: 2))x "
                    + "(\(shown(cost.wall, digits: 2)), "
                    + "\(shown(cost.wall / first[row].wall, digits: 2))x) "
                    + shown(cost.peak, digits: 1)
            }
            print(([first[row].name] + cells).joined(separator: " | "))
        }
        fflush(nil)
    }

    private func costs(
        _ input: VaultInput, _ url: String, _ server: PostgresServer?
    ) throws -> [Cost] {
        var samples: [String: [Sample]] = [:]
        var names: [String] = []
        for _ in 0..<rounds {
            try empty(url, server)
            for (name, count, run) in steps(input, url, server) {
                if samples[name] == nil { names.append(name) }
                let before = server?.cpuSeconds ?? 0
                var sample = try run()
                sample.server += (server?.cpuSeconds ?? 0) - before
                let share = 1e6 / Double(count)
                // Ten million take an hour: what was measured is said at once.
                print(
                    "\(input.count) records, \(name): "
                        + "\(shown((sample.siwa + sample.server) * share, digits: 2)) us a record")
                fflush(nil)
                samples[name, default: []].append(
                    Sample(
                        seconds: sample.seconds * share, siwa: sample.siwa * share,
                        server: sample.server * share, peak: sample.peak))
            }
        }
        return names.map { name in
            let all = samples[name] ?? []
            return Cost(
                name: name, wall: median(all.map(\.seconds)), siwa: median(all.map(\.siwa)),
                server: median(all.map(\.server)), peak: Double(all.map(\.peak).max() ?? 0) / 1024)
        }
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private typealias Step = (name: String, count: Int, run: () throws -> Sample)

    /// The commands in their order, each with how many records it is about.
    private func steps(_ input: VaultInput, _ url: String, _ server: PostgresServer?) -> [Step] {
        let size = input.count
        let claimed = min(size / 2, Self.claimed)
        // A few at a time, so that a small vault has enough of them for five samples of one run.
        let run = ClaimingRun(folder: folder)
        let claim: Step = (
            "claim and note, 100 at a time", claimed / 5,
            { try self.claim(claimed / 5, by: run.vault(url)) }
        )
        var steps: [Step] = [("import", size, vault("import \(input.tokens)"))]
        if let server { steps += [copy(size, server), vacuum("import", size, server)] }
        steps += [
            ("import again, nothing new", size, vault("import \(input.tokens)")),
            ("check", size, vault("check")),
            ("list", size, vault("list > /dev/null")),
            ("export --reveal", size, vault("export --reveal > /dev/null")),
            ("rekey", size, vault("rekey")),
        ]
        if let server { steps.append(vacuum("rekey", size, server)) }
        steps += Array(repeating: claim, count: 5)
        let moved = vault("remap \(input.moves) --client-id com.example.app")
        let history = "history --since 2020-01-01"
        return steps + [
            ("claims that find nothing", size, { try claimNothing(url) }),
            ("remap", min(size, VaultInput.moved), moved),
            ("history", claimed, vault("\(history) > /dev/null")),
            ("history --type removed", claimed, vault("\(history) --type removed > /dev/null")),
            ("prune", claimed, vault("prune --older-than 0s")),
        ]
    }

    private func run(_ command: String) throws -> Sample {
        let child = try Child.run(["/bin/sh", "-c", "exec \(command)"])
        return Sample(seconds: child.seconds, siwa: child.cpuSeconds, peak: child.peak)
    }

    private func vault(_ words: String) -> () throws -> Sample {
        { try run("\(siwa) vault \(words)") }
    }

    private func copy(_ size: Int, _ server: PostgresServer) -> Step {
        let rows = "\(folder)/rows"
        return (
            "\\copy of the same rows", size,
            {
                try writeRows(rows, server)
                defer { _ = try? server.run("DROP TABLE copied") }
                return try run("psql -qX -d '\(server.url)' -c '\\copy copied from \(rows)'")
            }
        )
    }

    /// What a command leaves for the server to tidy up later, so that it is no cost of the next one.
    private func vacuum(_ command: String, _ size: Int, _ server: PostgresServer) -> Step {
        (
            "vacuum after \(command)", size,
            {
                let start = now()
                try server.run("VACUUM ANALYZE", "CHECKPOINT")
                return Sample(seconds: now() - start, siwa: 0, peak: 0)
            }
        )
    }

    /// Writes the rows of the vault in no order, and makes an empty table for them.
    private func writeRows(_ file: String, _ server: PostgresServer) throws {
        try server.run(
            "CREATE TABLE copied (LIKE vault_token)",
            "ALTER TABLE copied ADD PRIMARY KEY (client_id, user_id, token_fingerprint)",
            "\\copy (SELECT * FROM vault_token ORDER BY md5(user_id)) to \(file)")
    }

    /// Records that are claimed and revoked.
    private static let claimed = 20_000
}

// What the commands need.
extension VaultBenchmark {
    /// A vault without records at `url`, which siwa's environment names from now on.
    private func empty(_ url: String, _ server: PostgresServer?) throws {
        for name in ["vault.db", "vault.db-wal", "vault.db-shm"] { unlink("\(folder)/\(name)") }
        let tables = "vault_schema, vault_key, vault_token, vault_history"
        try server?.run("DROP TABLE IF EXISTS \(tables) CASCADE")
        try VaultPlace(folder).make(siwa, url)
    }

    /// Revokes `count` tokens as a batch does, without Apple: claims a hundred, notes their results.
    private func claim(_ count: Int, by vault: Vault) throws -> Sample {
        let lease = Lease(owner: "bench", duration: .seconds(300))
        let filter = VaultFilter(clientID: Fixture.client, states: [.active])
        let (start, cpu) = (now(), processorSeconds())
        for _ in 0..<count / 100 {
            let claimed = try vault.claim(
                filter, limit: 100, for: lease, intent: .revocationBegun, at: today)
            guard claimed.records.count == 100 else { throw BenchmarkError("too few were claimed") }
            try vault.note(
                claimed.records.map { VaultNote($0, .revoked) }, releasedBy: "bench", at: today)
        }
        return Sample(seconds: now() - start, siwa: processorSeconds() - cpu, peak: 0)
    }

    /// Looks through all records for one that a filter never selects, as a run's last claim does.
    private func claimNothing(_ url: String) throws -> Sample {
        let vault = try VaultPlace(folder).vault(url)
        let lease = Lease(owner: "none", duration: .seconds(300))
        let filter = VaultFilter(clientID: Fixture.client, changedBefore: NumericDate(0))
        let (start, cpu) = (now(), processorSeconds())
        while case let claimed = try vault.claim(filter, limit: 100, for: lease, at: today),
            !claimed.isComplete
        {
            guard claimed.records.isEmpty else { throw BenchmarkError("a record was claimed") }
        }
        return Sample(seconds: now() - start, siwa: processorSeconds() - cpu, peak: 0)
    }
}

/// The run whose claims are measured.
private final class ClaimingRun {
    private let folder: String
    private var opened: Vault?

    init(folder: String) { self.folder = folder }

    /// Its vault, opened at the first call.
    func vault(_ url: String) throws -> Vault {
        let vault = try opened ?? VaultPlace(folder).vault(url)
        opened = vault
        return vault
    }
}

/// The processor time of this process, in seconds.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
