/// The results of a row.
struct ResultRow {
    let name: String
    /// The median rate, a second: it differs from machine to machine.
    let rate: Double
    /// Its rate for each of the first row's, which is siwa's: the median of the rounds' own ratios.
    let speed: Double
    /// Its processor time a unit for each of the first row's; nil where either is not measured.
    let cpu: Double?
    /// The most memory, in MiB; nil where it is not measured.
    let peak: Double?
    /// How many times longer than most the slowest of a hundred requests takes; nil where there are
    /// no requests.
    let tail: Double?

    init(_ name: String, _ own: [Sample], against first: [Sample]) {
        self.name = name
        rate = median(own.map(\.rate)) ?? 0
        speed = median(zip(own, first).map { $0.rate / $1.rate }) ?? 0
        cpu = median(
            zip(own, first).compactMap { own, first in
                own.cpu.flatMap { own in first.cpu.flatMap { $0 > 0 ? own / $0 : nil } }
            })
        peak = own.compactMap(\.peak).max().map { Double($0) / 1024 }
        tail = median(own.compactMap(\.tail))
    }
}

/// The rows of a benchmark, measured.
struct ResultTable {
    let name: String
    let title: String
    let rounds: Int
    let rows: [ResultRow]
    let goals: [GoalResult]
    /// The processors that other work used meanwhile: the median of the runs.
    let others: Double

    /// The title, with a capital.
    var heading: String { title.prefix(1).uppercased() + title.dropFirst() }

    /// As the terminal shows it, with the rates of this machine.
    func lines(_ unit: String) -> [String] {
        [Self.line("", "\(unit)/s", "speed", "cpu", "MiB", "p99/p50")]
            + rows.map {
                Self.line(
                    $0.name, shown($0.rate, digits: 0), shown($0.speed, digits: 2),
                    $0.cpu.map { shown($0, digits: 2) } ?? "",
                    $0.peak.map { shown($0, digits: 1) } ?? "",
                    $0.tail.map { shown($0, digits: 1) } ?? "")
            }
            + goals.map { "\($0.subject): \($0.cells.joined(separator: ", "))" }
            + [busyness]
    }

    private var busyness: String {
        "Other work used \(shown(others, digits: 2)) of a processor meanwhile."
    }

    /// As a document shows it: ratios only.
    var markdown: String {
        let rows = rows.map {
            """
            | \($0.name) | \(shown($0.speed, digits: 2)) \
            | \($0.cpu.map { shown($0, digits: 2) } ?? "") \
            | \($0.peak.map { shown($0, digits: 1) } ?? "") \
            | \($0.tail.map { shown($0, digits: 1) } ?? "") |
            """
        }
        return """
            ## \(heading)

            ![\(title)](\(name).svg)

            | | speed | processor time a unit | MiB at most | p99/p50 |
            |---|---|---|---|---|
            \(rows.joined(separator: "\n"))
            \(goalTable)
            \(busyness)

            """
    }

    private var goalTable: String {
        goals.isEmpty ? "" : "\n\(GoalResult.table(goals))"
    }

    /// A line for each bar: its name, its length, its label and its colour.
    var bars: String {
        rows.map { row in
            let colour = row.name.hasPrefix("siwa") ? "0x2563a8" : "0x9aa5b1"
            let label = shown(row.speed, digits: 2)
            return "\"\(row.name)\" \(shown(row.speed, digits: 4)) \"\(label)\" \(colour)\n"
        }.joined()
    }

    private static func line(_ cells: String...) -> String {
        let widths = [44, 11, 8, 8, 7, 8]
        return zip(cells, widths).enumerated().map { index, pair in
            let space = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
            return index == 0 ? pair.0 + space : space + pair.0
        }.joined(separator: " ")
    }
}

func median(_ values: [Double]) -> Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

func shown(_ value: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let whole = Int((value * scale).rounded())
    guard digits > 0 else { return "\(whole)" }
    let fraction = String(whole % Int(scale))
    let zeros = String(repeating: "0", count: digits - fraction.count)
    return "\(whole / Int(scale)).\(zeros)\(fraction)"
}
