/// Finds out when nothing was answered well for two minutes.
struct SilenceWatch: Sendable {
    private var answers = -1
    private var since = Duration.zero
    private var warnings = 1

    static let limit = Duration.seconds(120)

    /// When to look again, and, when a warning is due, how long nothing was answered well.
    ///
    /// - Parameter goodAnswers: how many requests were answered well so far.
    mutating func check(
        _ goodAnswers: Int, at now: Duration
    ) -> (next: Duration, warning: Duration?) {
        if goodAnswers != answers { (answers, since, warnings) = (goodAnswers, now, 1) }
        guard now >= since + Self.limit * warnings else {
            return (since + Self.limit * warnings, nil)
        }
        while now >= since + Self.limit * warnings { warnings += 1 }
        return (since + Self.limit * warnings, now - since)
    }
}
