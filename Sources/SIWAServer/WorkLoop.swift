package import Lifecycle

/// Works on what is due, many at a time, until the task is cancelled. What was begun goes on then.
package struct WorkLoop: Sendable {
    private let limit: Int
    private let pause: Duration
    private let wake: WakeSignal
    private let tasks = BackgroundTasks()

    /// - Parameters:
    ///   - limit: how much is worked on at a time.
    ///   - pause: how long to wait before looking again when nothing is due.
    ///   - wake: ends the wait.
    package init(limit: Int, pause: Duration, wake: WakeSignal) {
        (self.limit, self.pause, self.wake) = (limit, pause, wake)
    }

    /// Works.
    ///
    /// - Parameters:
    ///   - claim: up to so many items that are due.
    ///   - work: does what is to be done about one.
    func run<Item: Sendable>(
        claim: (Int) async -> [Item], work: @escaping @Sendable (Item) async -> Void
    ) async {
        while !Task.isCancelled {
            let count = wake.count
            let room = limit - tasks.count
            let items = room > 0 ? await claim(room) : []
            for item in items { start { await work(item) } }
            // Fewer than there was room for: nothing else is due.
            if items.count < room || room <= 0 { await wake.wait(after: count, atMost: pause) }
        }
    }

    /// Works on something besides.
    func start(_ work: @escaping @Sendable () async -> Void) {
        let wake = wake
        tasks.start {
            await work()
            wake.notify()
        }
    }

    /// Waits until all that was begun has ended.
    package func drain() async { await tasks.drain() }
}
