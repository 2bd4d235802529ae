internal import Synchronization

/// Runs a program's tasks on the main thread.
///
/// The standard library would leave the main thread at the first wait and start four other threads
/// (docs/decisions/linking.md). Dispatch also reads `/proc` for them, and ends the process if it is
/// missing. Parallel work uses ``WorkerThreads``; a server moves to Dispatch's threads after
/// ``requireDispatch()``.
package final class MainThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    /// A process creates one.
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { jobs in jobs.append(job) }
        WakeUp.main.post()
    }

    /// Runs tasks until one of them ends the process.
    ///
    /// - Parameter wakeUp: called before each task, and after a signal.
    package func run(_ wakeUp: () -> Void) -> Never {
        while true {
            WakeUp.main.wait()
            wakeUp()
            let job = jobs.withLock { jobs in jobs.isEmpty ? nil : jobs.removeFirst() }
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
