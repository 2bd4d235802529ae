/// The last answers about tokens, and how many of them are refusals. A pure value.
package struct RecentRefusals: Sendable {
    /// Whether each of the last answers was a refusal; the oldest is overwritten.
    private var answers: [Bool] = []
    private var refused = 0
    private var oldest = 0

    /// The number of answers that are examined.
    package static let window = 200
    /// The fewest answers from which a share is computed.
    package static let fewest = 20

    /// Begins before the first answer.
    package init() {}

    /// How many of the last answers are refusals.
    package var share: (refused: Int, of: Int) { (refused, answers.count) }

    /// Counts an answer.
    package mutating func note(_ isRefusal: Bool) {
        if answers.count < Self.window {
            answers.append(isRefusal)
        } else {
            if answers[oldest] { refused -= 1 }
            answers[oldest] = isRefusal
            oldest = (oldest + 1) % Self.window
        }
        if isRefusal { refused += 1 }
    }

    /// Whether more than this share of the answers are refusals, in percent; false while there are
    /// fewer than ``fewest``.
    package func areMoreThan(percent: Int) -> Bool {
        answers.count >= Self.fewest && refused * 100 > percent * answers.count
    }
}
