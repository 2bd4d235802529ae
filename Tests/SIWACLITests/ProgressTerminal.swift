import SIWALifecycle
import Synchronization

/// A terminal that shows progress, and a clock on which each look takes a second.
final class ProgressTerminal: Sendable {
    private let lines = Mutex<[String]>([])
    private let seconds = Mutex(0)

    /// What it has shown, each line in place of the one before.
    var shown: [String] { lines.withLock { $0 } }

    var timekeeper: Timekeeper {
        Timekeeper(
            elapsed: {
                .seconds(
                    self.seconds.withLock { seconds in
                        seconds += 1
                        return seconds
                    })
            }, sleep: { _ in })
    }

    func show(_ line: String) { lines.withLock { $0.append(line) } }

    func clear() { lines.withLock { $0 = [] } }
}
