import Dispatch

/// Runs the tasks of tests that block: each job gets a thread, where Swift's own pool has one for
/// each core and a blocked test would stop all others.
final class BlockingExecutor: TaskExecutor {
    /// Threads are kept for the next job, so there are as many as there were jobs at once.
    static let shared = BlockingExecutor()

    private let state = Locked(State())

    private struct State {
        var jobs: [UnownedJob] = []
        var idleThreads = 0
    }

    private let hasJob = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count > state.idleThreads
        }
        if needsThread {
            do {
                try startThread { self.work() }
            } catch {
                fatalError("no thread for a test: \(error)")
            }
        }
        hasJob.signal()
    }

    private func work() {
        while true {
            state.withLock { $0.idleThreads += 1 }
            hasJob.wait()
            let job = state.withLock { state in
                state.idleThreads -= 1
                return state.jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

// The static standard library of a release build, which compiles TestSupport too, comes without
// Testing.
#if canImport(Testing)
    package import Testing

    /// Marks tests that block: they call a database, wait for a process, read a pipe.
    package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
        package var isRecursive: Bool { true }

        package func provideScope(
            for test: Test, testCase: Test.Case?,
            performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await function()
            }
        }
    }

    extension Trait where Self == BlockingTrait {
        /// The test blocks the thread it runs on, so it gets one of its own.
        package static var blocking: Self { Self() }
    }
#endif
