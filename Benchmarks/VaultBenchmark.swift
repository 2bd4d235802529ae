import Glibc
import JOSE
import Lifecycle
import SIWACrypto
import TokenVault

/// What a record of a vault costs, by the size of the vault: a cost that grows with it ends, sooner or
/// later, every vault's usefulness.
struct VaultBenchmark {
    /// The program, as it was built.
    let siwa: String
    /// Where vaults and inputs are made; removed by the caller.
    let folder: String
    /// An empty database of a server; nil leaves PostgreSQL out.
    let postgres: String?
    let rounds: Int

    /// Measures vaults of these sizes, and prints a table for each database.
    func run(_ sizes: [Int]) throws {
        for size in sizes { try writeInput(size) }
        for (name, url) in [
            ("SQLite", "sqlite:\(folder)/vault.db"), ("PostgreSQL", postgres ?? ""),
        ]
        where !url.isEmpty {
            var columns: [[Cost]] = []
            for size in sizes { columns.append(try costs(size, url)) }
            show(name, sizes, columns)
        }
    }

    /// What one command cost.
    private struct Cost {
        let name: String
        /// Medians of the rounds, a record, in microseconds.
        let wall, cpu: Double
        /// In MiB.
        let peak: Double
    }

    private struct Sample {
        let seconds, cpu: Double
        let peak: Int
    }

    private func show(_ name: String, _ sizes: [Int], _ columns: [[Cost]]) {
        print("\n\(name): us a record (of siwa's processor), MiB; against \(sizes[0]) records\n")
        for (row, first) in columns[0].enumerated() {
            let cells = columns.map { column in
                let cost = column[row]
                return "\(shown(cost.wall)) (\(shown(cost.cpu))) \(shown(cost.peak)) "
                    + "\(shown(cost.wall / first.wall))x"
            }
            print(([first.name] + cells).joined(separator: " | "))
        }
        fflush(nil)
    }

    /// Two decimals.
    private func shown(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private func costs(_ size: Int, _ url: String) throws -> [Cost] {
        var samples: [String: [Sample]] = [:]
        var names: [String] = []
        for _ in 0..<rounds {
            try empty(url)
            for (name, count, run) in steps(size, url) {
                if samples[name] == nil { names.append(name) }
                let sample = try run()
                let share = 1e6 / Double(count)
                samples[name, default: []].append(
                    Sample(
                        seconds: sample.seconds * share, cpu: sample.cpu * share,
                        peak: sample.peak))
            }
        }
        return names.map { name in
            let all = samples[name] ?? []
            return Cost(
                name: name, wall: median(all.map(\.seconds)), cpu: median(all.map(\.cpu)),
                peak: Double(all.map(\.peak).max() ?? 0) / 1024)
        }
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private typealias Step = (name: String, count: Int, run: () throws -> Sample)

    /// The commands in their order, each with how many records it is about.
    private func steps(_ size: Int, _ url: String) -> [Step] {
        func siwa(_ words: String) -> () throws -> Sample {
            {
                let child = try Child.run(["/bin/sh", "-c", "exec \(self.siwa) \(words)"])
                return Sample(seconds: child.seconds, cpu: child.cpuSeconds, peak: child.peak)
            }
        }
        let moved = min(size, Self.moved)
        let claimed = min(size / 2, Self.claimed)
        let client = "--client-id com.example.app"
        return [
            ("import", size, siwa("vault import \(input(size))")),
            ("import again, nothing new", size, siwa("vault import \(input(size))")),
            ("check", size, siwa("vault check")),
            ("list", size, siwa("vault list > /dev/null")),
            ("export --reveal", size, siwa("vault export --reveal > /dev/null")),
            ("rekey", size, siwa("vault rekey")),
            ("claim and note, 100 at a time", claimed, { try claim(claimed, url) }),
            ("remap", moved, siwa("vault remap \(folder)/moves\(size) \(client)")),
            ("history", claimed, siwa("vault history --since 2020-01-01 > /dev/null")),
            ("prune", claimed, siwa("vault prune --older-than 0s")),
        ]
    }

    /// Users who get another id.
    private static let moved = 10_000
    /// Records that are claimed and revoked.
    private static let claimed = 20_000
}

// What the commands need.
extension VaultBenchmark {
    private func input(_ size: Int) -> String { "\(folder)/dump\(size).jsonl" }

    /// Tokens of users in no order, and new ids for some of the users.
    private func writeInput(_ size: Int) throws {
        // The same for every run, so that two runs can be compared: SplitMix64.
        var state: UInt64 = 1
        func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
        func digits(_ radix: Int, _ count: Int) -> String {
            let text = String(next(), radix: radix) + String(next(), radix: radix)
            return String((String(repeating: "0", count: count) + text).suffix(count))
        }
        let dump = try Lines(input(size))
        let moves = try Lines("\(folder)/moves\(size)")
        for number in 0..<size {
            let user = "\(digits(10, 6)).\(digits(16, 16))\(digits(16, 16)).\(digits(10, 4))"
            let token =
                "r\(digits(16, 16))\(digits(16, 16))\(digits(16, 16)).0.mrtwu.\(digits(16, 22))"
            try dump.write(
                """
                {"client_id":"com.example.app","user_id":"\(user)","refresh_token":"\(token)",\
                "state":"active","stored_at":"2026-01-21T08:30:00Z"}

                """)
            guard number < Self.moved else { continue }
            try moves.write(
                """
                {"old_user_id":"\(user)","user_id":"\(digits(10, 6)).\(digits(16, 30)).0001"}

                """)
        }
        try dump.close()
        try moves.close()
    }

    /// A vault without records at `url`, which siwa's environment names from now on.
    private func empty(_ url: String) throws {
        let key = "\(folder)/vault.key"
        for name in ["vault.db", "vault.db-wal", "vault.db-shm", "vault.key", "vault.key.lock"] {
            unlink("\(folder)/\(name)")
        }
        setenv("SIWA_VAULT_URL", url, 1)
        setenv("SIWA_VAULT_KEY_FILE", key, 1)
        setenv("SIWA_CONFIG", "\(folder)/config.json", 1)
        let configuration = try Lines("\(folder)/config.json")
        try configuration.write("{}\n")
        try configuration.close()
        if !url.hasPrefix("sqlite:") {
            let tables = "vault_schema, vault_key, vault_token, vault_history"
            _ = try Child.run(
                ["psql", "-q", "-d", url, "-c", "DROP TABLE IF EXISTS \(tables) CASCADE"])
        }
        _ = try Child.run([siwa, "vault", "init", "-q"])
    }

    /// Revokes `count` tokens as a batch does, without Apple: claims a hundred, notes their results.
    private func claim(_ count: Int, _ url: String) throws -> Sample {
        let keys = try VaultKeyRing(SecretBytes(try contents("\(folder)/vault.key")))
        let vault = try Vault(
            try openVaultStore(url, timeout: .eachStatement(.seconds(600))), keys,
            by: VaultActor(command: "bench", host: "here"))
        let lease = VaultLease(owner: "bench", duration: .seconds(300))
        let filter = VaultFilter(clientID: Fixture.client, states: [.active])
        let (start, cpu) = (now(), processorSeconds())
        for _ in 0..<count / 100 {
            let claimed = try vault.claim(
                filter, limit: 100, for: lease, intent: .revocationBegun, at: today)
            guard claimed.records.count == 100 else { throw BenchmarkError("too few were claimed") }
            try vault.note(
                claimed.records.map { VaultNote($0, .revoked) }, releasedBy: "bench", at: today)
        }
        return Sample(seconds: now() - start, cpu: processorSeconds() - cpu, peak: 0)
    }

    private func contents(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw BenchmarkError("'\(path)' cannot be read") }
        return Array(bytes[..<count])
    }
}

/// A file that is written line by line.
private final class Lines {
    private let descriptor: CInt
    private var part: [UInt8] = []

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError("'\(path)' cannot be written") }
    }

    func write(_ line: String) throws {
        part += line.utf8
        if part.count > 1 << 18 { try flush() }
    }

    func close() throws {
        try flush()
        Glibc.close(descriptor)
    }

    private func flush() throws {
        guard Glibc.write(descriptor, part, part.count) == part.count else {
            throw BenchmarkError("a file cannot be written")
        }
        part.removeAll(keepingCapacity: true)
    }
}

/// The processor time of this process, in seconds.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
