internal import Glibc

/// A semaphore that may be posted in a signal handler, unlike Dispatch's semaphores.
package final class WakeUp: Sendable {
    /// Wakes the thread that runs the program's tasks, for work or after a signal.
    package static let main = WakeUp()

    /// Never freed, because a signal handler may run at any time.
    nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    private init() { sem_init(semaphore, 0, 0) }

    /// Ends one ``wait()``.
    package func post() { sem_post(semaphore) }

    /// Waits for a ``post()`` that no other wait consumed.
    package func wait() { while sem_wait(semaphore) == -1, errno == EINTR {} }
}
