internal import SignInWithApple
internal import Synchronization

/// How far a batch has come, for whoever watches a terminal, and how it ended.
final class BatchProgress: Sendable {
    private let output: BatchOutput
    private let timekeeper: Timekeeper
    private let show: (@Sendable (String) -> Void)?
    private let start: Duration
    private let lastShown: Mutex<Duration>

    init(_ output: BatchOutput, _ world: World, isQuiet: Bool) {
        self.output = output
        timekeeper = world.clocks.timekeeper
        show = isQuiet ? nil : world.streams.progress
        start = timekeeper.elapsed()
        lastShown = Mutex(start)
    }

    /// Shows how far it is, a few times a second.
    func update() {
        guard let show else { return }
        let now = timekeeper.elapsed()
        let isDue = lastShown.withLock { last in
            guard now - last > .milliseconds(200) else { return false }
            last = now
            return true
        }
        if isDue { show(summary) }
    }

    /// Takes the line away.
    func clear() { show?("") }

    /// `99990 done, 6 refused in 12.300 s (8129/s)`.
    var summary: String {
        let counts = output.counted
        let time = timekeeper.elapsed() - start
        let named = [
            (counts.refused, "refused"), (counts.failed, "failed"), (counts.invalid, "invalid"),
        ]
        let parts =
            ["\(counts.done) done"] + named.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(parts.joined(separator: ", ")) in \(time.inSeconds) (\(rate(counts, time))/s)"
    }

    private func rate(_ counts: BatchCounts, _ time: Duration) -> Int {
        let milliseconds = max(time / .milliseconds(1), 1)
        return Int(Double(counts.total) * 1000 / milliseconds)
    }
}
