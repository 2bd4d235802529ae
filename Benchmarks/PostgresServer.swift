import Glibc

/// A PostgreSQL server that only the benchmark knows (with-postgres).
struct PostgresServer {
    /// An empty database.
    let url: String
    private let pid: pid_t

    /// The server of `make bench-vault` and `make bench-workers`; nil without PostgreSQL.
    init?() {
        guard let url = variable("SIWA_BENCH_POSTGRES"),
            let pid = variable("SIWA_BENCH_POSTGRES_PID").flatMap({ pid_t($0) })
        else { return nil }
        (self.url, self.pid) = (url, pid)
    }

    /// The URL of another of its databases.
    func url(of database: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        let place = parts[0].prefix { $0 != "@" } + "@/" + database
        return parts.count == 2 ? "\(place)?\(parts[1])" : String(place)
    }

    /// The processor time of all its processes, those that have ended too.
    var cpuSeconds: Double {
        let stats = (try? Child.run(["sh", "-c", "cat /proc/[0-9]*/stat 2>/dev/null; true"]))?
            .output
        let ticks = (stats ?? "").split(separator: "\n").reduce(0.0) { sum, line in
            // After the name, which ends with the last bracket: state, parent, and later the times of
            // the process and of its children.
            let fields = line.reversed().prefix { $0 != ")" }.reversed()
            let numbers = String(fields).split(separator: " ")
            guard numbers.count > 14,
                pid_t(numbers[1]) == pid || line.hasPrefix("\(pid) (")
            else { return sum }
            return sum + numbers[11...14].compactMap { Double($0) }.reduce(0, +)
        }
        return ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    /// Runs SQL in one of its databases, and answers what psql prints.
    @discardableResult
    func run(_ commands: String..., at url: String? = nil) throws -> String {
        try Child.run(
            ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", url ?? self.url]
                + commands.flatMap { ["-c", $0] }
        ).output
    }
}
