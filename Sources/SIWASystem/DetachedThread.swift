internal import Glibc

/// Runs `body` on a thread of its own, which may block.
///
/// - Throws: ``FileError`` if the system refuses the thread.
package func runOnThread(_ body: @escaping @Sendable () -> Void) throws(FileError) {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(ThreadBody(body))
    let code = pthread_create(
        &thread, nil,
        { work in
            if let work { Unmanaged<ThreadBody>.fromOpaque(work).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    guard code == 0 else {
        work.release()
        throw .tooFewThreads(1, code: code)
    }
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
