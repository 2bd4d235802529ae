internal import Synchronization

/// Runs a program's tasks on the main thread.
///
/// The standard library would give the main thread back to the system at the first wait and go on
/// elsewhere, for which it starts four threads (docs/decisions/linking.md). They also need `/proc`,
/// which Dispatch reads and ends the process without. Work that is to run in parallel asks for
/// ``WorkerThreads``; a server moves to Dispatch's threads after ``requireDispatch()``.
package final class MainThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    /// One for a process.
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
