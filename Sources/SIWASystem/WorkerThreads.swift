internal import Glibc
internal import Synchronization

/// Threads that run tasks in parallel, and end with the process.
///
/// Dispatch's pool, behind `globalConcurrentExecutor`, waits forever for a thread that it does not
/// get, and reads `/proc` to count its threads; without `/proc`, it ends the process.
package final class WorkerThreads: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    nonisolated(unsafe) private let work = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// Starts the threads.
    ///
    /// - Throws: ``FileError`` if the system refuses one.
    package init(_ count: Int) throws(FileError) {
        sem_init(work, 0, 0)
        for _ in 0..<count {
            let code = start()
            guard code == 0 else { throw .tooFewThreads(count, code: code) }
        }
    }

    /// Starts one thread; returns the system's error number.
    private func start() -> CInt {
        var thread = pthread_t()
        let owner = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { owner in
                if let owner {
                    Unmanaged<WorkerThreads>.fromOpaque(owner).takeRetainedValue().run()
                }
                return nil
            }, owner.toOpaque())
        if code == 0 { pthread_detach(thread) } else { owner.release() }
        return code
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        sem_post(work)
    }

    private func run() -> Never {
        while true {
            guard sem_wait(work) == 0 else { continue }
            let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            job?.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
