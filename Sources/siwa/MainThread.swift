internal import Dispatch
internal import Synchronization

/// Runs the program's tasks on the main thread.
///
/// The standard library would give the main thread back to the system at the first wait and go on
/// elsewhere, for which it starts four threads (docs/decisions/linking.md). Work that is to run in parallel asks for
/// `globalConcurrentExecutor` itself.
final class MainThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let arrival = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrival.signal()
    }

    /// Runs tasks until one of them ends the process.
    func run() -> Never {
        while true {
            arrival.wait()
            let job = jobs.withLock { $0.removeFirst() }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
