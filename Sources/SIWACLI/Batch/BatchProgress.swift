internal import JOSE
internal import Lifecycle
internal import Synchronization

/// The progress of a batch, shown on a terminal, and its summary.
final class BatchProgress: Sendable {
    private let output: BatchOutput
    private let expected: @Sendable () -> Int?
    private let timekeeper: Timekeeper
    private let show: (@Sendable (String) -> Void)?
    private let start: Duration
    private let lastShown: Mutex<Duration>

    /// - Parameter expected: about how many items there will be; nil if that is unknown.
    init(
        _ output: BatchOutput, _ world: World, isQuiet: Bool,
        expected: @escaping @Sendable () -> Int?
    ) {
        (self.output, self.expected) = (output, expected)
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
        if isDue { show(line) }
    }

    /// Takes the line away.
    func clear() { show?("") }

    /// How long the run took so far, in seconds with three decimals: `12.300`.
    var seconds: String {
        let milliseconds = Int((timekeeper.elapsed() - start) / .milliseconds(1))
        return "\(milliseconds / 1000).\((milliseconds % 1000).padded(to: 3))"
    }

    /// `99990 done, 6 refused in 12.3 s (8129/s)`.
    var summary: String {
        let counts = output.counted
        let time = timekeeper.elapsed() - start
        return "\(counts.named()) in \(time.measured) (\(Int(rate(counts, time)))/s)"
    }

    /// `99990 done, 0 failed, 6 refused, 8129/s, 1m12s left`.
    private var line: String {
        let counts = output.counted
        let rate = rate(counts, timekeeper.elapsed() - start)
        var line = "\(counts.named(always: .failed)), \(Int(rate))/s"
        if let expected = expected(), rate > 0 {
            let open = max(expected - counts.total, 0)
            let seconds = min((Double(open) / rate).rounded(.up), Self.longest)
            line += ", \(Duration.seconds(seconds).abbreviation) left"
        }
        return line
    }

    private func rate(_ counts: BatchCounts, _ time: Duration) -> Double {
        Double(counts.total) * 1000 / max(time / .milliseconds(1), 1)
    }

    /// Longer estimates are cut to a year.
    private static let longest = 365 * 86_400.0
}
