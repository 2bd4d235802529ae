import SIWALifecycle
import Synchronization

/// Time passes only by waiting.
final class Stopwatch: Sendable {
    private let elapsed = Mutex(Duration.zero)

    var timekeeper: Timekeeper {
        Timekeeper(
            elapsed: { self.elapsed.withLock { $0 } },
            sleep: { pause in
                let end = self.elapsed.withLock { $0 } + pause
                // A wait that is cancelled takes no time.
                try await Task.sleep(for: .milliseconds(1))
                self.elapsed.withLock { $0 = max($0, end) }
            })
    }
}
