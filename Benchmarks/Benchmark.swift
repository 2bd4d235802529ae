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

    /// The measurements of a program that processed `count` units.
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
    /// The name of its picture.
    let name: String
    let title: String
    /// What is counted.
    let unit: String
    /// The first is siwa's.
    let rows: [Row]
    /// How often a round is repeated: more often where each takes so little time that a short
    /// disturbance changes its ratios.
    var repetitions = 1
    /// What siwa's rows should reach.
    var goals: [Goal] = []

    /// Runs every row once a round; prints and returns the table.
    func run(rounds: Int) throws -> ResultTable {
        let rounds = rounds * repetitions
        print("\n\(title)\n")
        for row in rows where row.run == nil { print("skipped: \(row.name) is not installed") }
        let entries = rows.compactMap { row in row.run.map { (row.name, $0) } }
        var samples: [[Sample]] = entries.map { _ in [] }
        var others: [Double] = []
        for _ in 0..<rounds {
            for (index, entry) in entries.enumerated() {
                let before = OtherWork()
                samples[index].append(try entry.1())
                others.append(OtherWork().processors(since: before))
            }
        }
        let table = ResultTable(
            name: name, title: title, rounds: rounds,
            rows: entries.indices.map {
                ResultRow(entries[$0].0, samples[$0], against: samples[0])
            }, goals: try results(entries.map(\.0), samples), others: median(others) ?? 0)
        for line in table.lines(unit) { print(line) }
        fflush(nil)
        return table
    }

    /// The goals whose rows were measured.
    private func results(
        _ names: [String], _ samples: [[Sample]]
    ) throws -> [GoalResult] {
        for name in goals.flatMap({ [$0.row, $0.other] })
        where !rows.contains(where: { $0.name == name }) {
            throw BenchmarkError("a goal names the row '\(name)', which \(self.name) has not")
        }
        return goals.compactMap { goal in
            guard let own = names.firstIndex(of: goal.row),
                let other = names.firstIndex(of: goal.other),
                let ratio = median(
                    zip(samples[own], samples[other]).compactMap { goal.ratio($0, $1) })
            else { return nil }
            return GoalResult(goal: goal, ratio: ratio)
        }
    }
}
