/// Detects that no request has succeeded for two minutes.
struct SilenceWatch: Sendable {
    private var answers = -1
    private var since = Duration.zero
    private var warnings = 1

    static let limit = Duration.seconds(120)

    /// When to check again, and how long no request has succeeded if a warning is due.
    ///
    /// - Parameter successes: how many requests have succeeded so far.
    mutating func check(
        _ successes: Int, at now: Duration
    ) -> (next: Duration, warning: Duration?) {
        if successes != answers { (answers, since, warnings) = (successes, now, 1) }
        guard now >= since + Self.limit * warnings else {
            return (since + Self.limit * warnings, nil)
        }
        while now >= since + Self.limit * warnings { warnings += 1 }
        return (since + Self.limit * warnings, now - since)
    }
}
