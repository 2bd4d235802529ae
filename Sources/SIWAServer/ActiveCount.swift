internal import SIWALifecycle
internal import Synchronization

/// Counts what is in progress, to wait for its end.
final class ActiveCount: Sendable {
    private let count = Mutex(0)
    private let changes = WakeSignal()

    /// Counts work that begins.
    func begin() { count.withLock { $0 += 1 } }

    /// Counts work that ends.
    func end() {
        count.withLock { $0 -= 1 }
        changes.notify()
    }

    /// Waits until nothing is in progress.
    func drain() async {
        while true {
            let seen = changes.count
            if count.withLock({ $0 == 0 }) { return }
            await changes.wait(after: seen)
        }
    }
}
