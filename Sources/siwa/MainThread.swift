internal import Lifecycle
internal import LocalFiles
internal import SIWACLI
internal import Synchronization

/// Runs the program's tasks on the main thread, and tells them of signals.
///
/// The standard library would give the main thread back to the system at the first wait and go on
/// elsewhere, for which it starts four threads (docs/decisions/linking.md). Work that is to run in
/// parallel asks for ``WorkerThreads``.
final class MainThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let signalArrival = WakeSignal()

    /// The process's signals, as commands see them.
    var signals: World.Signals {
        World.Signals(
            received: { ProcessSignals.received },
            apply: { policy, watchdog in ProcessSignals.apply(policy, watchdog: watchdog) },
            setAlarm: { seconds, exitCode in
                ProcessSignals.setAlarm(after: seconds, exitCode: exitCode)
            },
            arrival: signalArrival)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { jobs in jobs.append(job) }
        WakeUp.main.post()
    }

    /// Runs tasks until one of them ends the process.
    func run() -> Never {
        while true {
            WakeUp.main.wait()
            if signalArrival.count == 0, ProcessSignals.received != nil { signalArrival.notify() }
            let job = jobs.withLock { jobs in jobs.isEmpty ? nil : jobs.removeFirst() }
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
