/// A ratio that a row of a table should reach beside another row (docs/performance.md).
struct Goal {
    /// What is compared.
    enum Measure: String {
        /// Units a second: at least.
        case rate
        /// Units for each second of a processor: at least.
        case perProcessor = "rate of a processor"
        /// The time from start to end: at most.
        case time
        /// Processor time a unit: at most.
        case processor = "processor time"

        var isLimit: Bool { self == .time || self == .processor }
    }

    let measure: Measure
    let row: String
    let other: String
    let must: Double
    let stretch: Double

    init(
        _ measure: Measure, of row: String, against other: String, must: Double, stretch: Double
    ) {
        (self.measure, self.row, self.other) = (measure, row, other)
        (self.must, self.stretch) = (must, stretch)
    }

    /// The ratio of one round; nil if a part of it was not measured.
    func ratio(_ own: Sample, _ other: Sample) -> Double? {
        switch measure {
        case .rate: own.rate / other.rate
        case .time: other.rate / own.rate
        case .processor: own.cpu.flatMap { own in other.cpu.map { own / $0 } }
        case .perProcessor: own.cpu.flatMap { own in other.cpu.map { $0 / own } }
        }
    }
}

/// A goal, measured.
struct GoalResult {
    let goal: Goal
    /// The median of the rounds' own ratios.
    let ratio: Double

    /// How far it was reached.
    var verdict: String {
        if reaches(goal.stretch) { return "stretch" }
        return reaches(goal.must) ? "must" : "falls short"
    }

    private func reaches(_ limit: Double) -> Bool {
        goal.measure.isLimit ? ratio <= limit : ratio >= limit
    }

    /// What is measured, in a line.
    var subject: String { "\(goal.row): \(goal.measure.rawValue) beside \(goal.other)" }

    /// The measured ratio, the goals and the verdict.
    var cells: [String] {
        let sign = goal.measure.isLimit ? "≤" : "≥"
        return [
            shown(ratio, digits: 2), "\(sign) \(shown(goal.must, digits: 2))",
            "\(sign) \(shown(goal.stretch, digits: 2))", verdict,
        ]
    }

    /// Goals as a document shows them.
    static func table(_ goals: [GoalResult]) -> String {
        let rows = goals.map { "| \($0.subject) | \($0.cells.joined(separator: " | ")) |\n" }
        return "| | measured | must | stretch | reached |\n|---|---|---|---|---|\n"
            + rows.joined()
    }
}
