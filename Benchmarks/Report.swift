import Glibc
import SIWAJOSE
import SIWALifecycle

/// What a run writes into a folder: a page with the tables, and a picture of each.
struct Report {
    let folder: String
    /// The gnuplot program that draws a table.
    let chart: String

    /// Replaces the page and the pictures.
    func write(_ tables: [ResultTable]) throws {
        mkdir(folder, 0o755)
        try write("README.md", page(tables))
        try writeGoals(tables.flatMap(\.goals))
        guard let gnuplot = Child.installed("gnuplot") else {
            return print("\nskipped: the pictures, because gnuplot is not installed")
        }
        for table in tables {
            let bars = "\(folder)/\(table.name).bars"
            try write("\(table.name).bars", table.bars)
            defer { unlink(bars) }
            _ = try Child.run([
                gnuplot, "-c", chart, bars, "\(folder)/\(table.name).svg", "\(table.rows.count)",
                table.heading, subtitle,
            ])
        }
        print("\n\(folder) has the tables and their pictures")
    }

    private func page(_ tables: [ResultTable]) -> String {
        """
        # Benchmarks

        Written by `make bench` on \(Self.date): \(tables.map(\.rounds).min() ?? 0) rounds, \
        \(tables.map(\.rounds).max() ?? 0) where a round is short, \(Self.machine); \
        \(Self.versions.joined(separator: ", ")). The rows of a table run in \
        turns. Speed and processor time are those of the first row, siwa's, as 1: medians of the \
        rounds' own ratios. [performance.md](../performance.md) says what they mean.

        \(tables.map(\.markdown).joined(separator: "\n"))
        """
    }

    /// Replaces the goals in performance.md, the page above the folder.
    private func writeGoals(_ goals: [GoalResult]) throws {
        let page = "../performance.md"
        let text = try Child.run(["cat", "\(folder)/\(page)"]).output
        let (begin, end) = ("<!-- goals: make bench writes them -->\n", "<!-- end of the goals -->")
        guard let start = text.firstPlace(of: begin), let finish = text.firstPlace(of: end) else {
            throw BenchmarkError("performance.md has no place for the goals")
        }
        try write(
            page, text[..<start.upperBound] + GoalResult.table(goals) + text[finish.lowerBound...])
    }

    private var subtitle: String {
        "Speed, siwa's is 1. \(Self.date), \(Self.machine), siwa \(version)"
    }

    private static var date: String {
        var (seconds, parts) = (time(nil), tm())
        gmtime_r(&seconds, &parts)
        return "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    }

    private static func padded(_ number: CInt) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// The kind of the machine, without anything that identifies it.
    private static var machine: String {
        let lines = (try? Child.run(["cat", "/proc/cpuinfo"]).output)?.split(separator: "\n") ?? []
        let models = lines.filter { $0.hasPrefix("model name") }
        let model = models.first?.split(separator: ":").last.map { String($0).trimmed } ?? "unknown"
        return "\(max(models.count, 1)) processors (\(model))"
    }

    private static var versions: [String] {
        let first = { (command: [String], words: Int) -> String? in
            (try? Child.run(command).output).map {
                $0.split { $0.isWhitespace }.prefix(words).joined(separator: " ")
            }
        }
        let python = "import jwt; print('PyJWT', jwt.__version__)"
        return ["siwa \(version)"]
            + [
                first(["openssl", "version"], 2), first(["curl", "--version"], 2),
                first(["python3", "--version"], 2), first(["python3", "-c", python], 2),
            ].compactMap { $0 }
    }

    private func write(_ name: String, _ text: some StringProtocol) throws {
        guard let file = fopen("\(folder)/\(name)", "w") else {
            throw BenchmarkError("'\(folder)/\(name)' cannot be written")
        }
        defer { fclose(file) }
        fputs(String(text), file)
    }
}
