import Glibc

/// The measurements of one run of a row.
struct Sample {
    /// Units a second.
    let rate: Double
    /// The processor seconds for a thousand units, a server's or else the client's; nil if they
    /// are not measured.
    var cpu: Double?
    /// The most memory, in KiB; nil if it is not meaningful.
    var peak: Int?
    /// How many times longer than most of them the slowest of a hundred requests takes; nil where
    /// there are no requests.
    var tail: Double?

    init(rate: Double) { self.rate = rate }

    /// A program that did `count` units.
    init(_ count: Int, _ child: Child) {
        rate = Double(count) / child.seconds
        cpu = child.cpuSeconds / Double(count) * 1000
        peak = child.peak
    }
}

/// One way to do the work.
struct Row {
    let name: String
    /// Runs it once; nil if it is not installed.
    let run: (() throws -> Sample)?
}

/// Several ways to do the same work, run in turns, so that changes of the machine's speed affect all.
struct Benchmark {
    let title: String
    /// What is counted.
    let unit: String
    /// The first is siwa's.
    let rows: [Row]

    /// Runs every row once a round and prints a table: each row's median rate, and by what factor
    /// siwa is faster, by the clock and by processor time, the medians of the rounds' own ratios.
    func run(rounds: Int) throws {
        print("\n\(title)\n")
        for row in rows where row.run == nil { print("skipped: \(row.name) is not installed") }
        let entries = rows.compactMap { row in row.run.map { (row.name, $0) } }
        var samples: [[Sample]] = entries.map { _ in [] }
        for _ in 0..<rounds {
            for (index, entry) in entries.enumerated() {
                samples[index].append(try entry.1())
            }
        }
        line("", "\(unit)/s", "cpu s/1000", "MiB", "p99/p50", "siwa is", "by cpu")
        for (index, entry) in entries.enumerated() {
            let own = samples[index]
            let ratios = zip(samples[0], own).map { $0.rate / $1.rate }
            let ratiosOfCPU = zip(samples[0], own).compactMap { siwa, own in
                siwa.cpu.flatMap { siwa in own.cpu.map { $0 / siwa } }
            }
            line(
                entry.0, Self.shown(median(own.map(\.rate)), digits: 0),
                median(own.compactMap(\.cpu)).map { Self.shown($0, digits: 4) } ?? "",
                own.compactMap(\.peak).max().map { Self.shown(Double($0) / 1024, digits: 1) } ?? "",
                median(own.compactMap(\.tail)).map { Self.shown($0, digits: 1) } ?? "",
                index == 0 ? "" : "\(Self.shown(median(ratios), digits: 2)) x",
                index == 0 || ratiosOfCPU.isEmpty
                    ? "" : "\(Self.shown(median(ratiosOfCPU), digits: 2)) x")
        }
    }

    private func line(_ cells: String...) {
        let widths = [44, 15, 11, 7, 8, 10, 10]
        let padded = zip(cells, widths).enumerated().map { index, pair in
            let space = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
            return index == 0 ? pair.0 + space : space + pair.0
        }
        print(padded.joined(separator: " "))
        fflush(nil)
    }

    private func median(_ values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    static func shown(_ value: Double?, digits: Int) -> String {
        guard let value else { return "" }
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let whole = Int((value * scale).rounded())
        guard digits > 0 else { return "\(whole)" }
        let fraction = String(whole % Int(scale))
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(whole / Int(scale)).\(zeros)\(fraction)"
    }
}
