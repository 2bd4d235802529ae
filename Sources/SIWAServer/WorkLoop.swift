import SIWALifecycle

/// Processes due items concurrently until the task is cancelled. Items in progress then continue.
struct WorkLoop: Sendable {
    private let limit: Int
    private let pause: Duration
    private let wake: WakeSignal
    private let tasks = BackgroundTasks()

    /// - Parameters:
    ///   - limit: the maximum number of concurrent items.
    ///   - pause: how long to wait when nothing is due.
    ///   - wake: ends the wait.
    init(limit: Int, pause: Duration, wake: WakeSignal) {
        (self.limit, self.pause, self.wake) = (limit, pause, wake)
    }

    /// Processes items.
    ///
    /// - Parameters:
    ///   - claim: claims up to this number of due items.
    ///   - work: processes one item.
    func run<Item: Sendable>(
        claim: (Int) async -> [Item], work: @escaping @Sendable (Item) async -> Void
    ) async {
        while !Task.isCancelled {
            let count = wake.count
            let room = limit - tasks.count
            let items = room > 0 ? await claim(room) : []
            for item in items { start { await work(item) } }
            // Fewer items than requested: nothing else is due.
            if items.count < room || room <= 0 { await wake.wait(after: count, atMost: pause) }
        }
    }

    /// Processes other work within the same limit.
    func start(_ work: @escaping @Sendable () async -> Void) {
        let wake = wake
        tasks.start {
            await work()
            wake.notify()
        }
    }

    /// Waits for the items in progress.
    func drain() async { await tasks.drain() }
}
