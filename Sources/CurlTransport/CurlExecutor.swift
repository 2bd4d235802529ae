internal import CCurl
internal import Dispatch
internal import SignInWithApple

/// One multi handle and the queue that alone may touch it.
///
/// libcurl's rule is one thread at a time per multi handle; as the executor of an actor
/// the rule is checked by the compiler. The one call libcurl allows from any thread,
/// `curl_multi_wakeup`, ends a wait whenever somebody else has work for the actor.
final class CurlExecutor: SerialExecutor {
    let library: CurlLibrary
    /// Created here, used on the queue only, freed here.
    nonisolated(unsafe) let multi: OpaquePointer
    private let queue = DispatchQueue(label: "siwa.curl", qos: .userInitiated)

    init(_ library: CurlLibrary) throws(TransportError) {
        guard let multi = library.functions.pointee.multi_init() else {
            throw unavailable("libcurl has no memory")
        }
        self.library = library
        self.multi = OpaquePointer(multi)
    }

    deinit { _ = library.functions.pointee.multi_cleanup(UnsafeMutableRawPointer(multi)) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The job may be all that keeps the actor, and so this object, alive; it can be over
        // before the wake-up.
        let keeper = Unmanaged.passRetained(self)
        defer { keeper.release() }
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        _ = library.functions.pointee.multi_wakeup(UnsafeMutableRawPointer(multi))
    }

    /// Runs `turn` behind the jobs that already wait, without waking anybody: a loop that
    /// enqueued its next turn as a job would end its own wait and spin.
    func runNext(_ turn: @escaping @Sendable () -> Void) {
        queue.async(execute: turn)
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
