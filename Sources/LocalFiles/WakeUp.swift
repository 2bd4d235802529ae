internal import Glibc

/// A semaphore that a signal handler may post, which Dispatch's semaphores do not promise.
package final class WakeUp: Sendable {
    /// Wakes the thread that runs the program's tasks: there is work, or a signal came.
    package static let main = WakeUp()

    /// Allocated here and never freed: a handler may run at any time.
    nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    private init() { sem_init(semaphore, 0, 0) }

    /// Ends one ``wait()``.
    package func post() { sem_post(semaphore) }

    /// Waits for a ``post()`` that no other wait consumed.
    package func wait() { while sem_wait(semaphore) == -1, errno == EINTR {} }
}
