internal import Glibc

/// Fails if the system refuses this process a few threads or file descriptors.
///
/// Dispatch waits without end for a thread that it does not get, and stops the process for want of a
/// descriptor.
///
/// - Parameter threads: how many are needed at the same time; a request needs a queue, Dispatch's
///   own thread, and libcurl's resolver.
/// - Throws: ``FileError`` that says which limit to raise; ``FileError/isTemporary`` is true.
package func requireResources(threads: Int = 3) throws(FileError) {
    try requireDescriptors()
    try requireThreads(threads)
}

private func requireDescriptors() throws(FileError) {
    var descriptors: [CInt] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    for _ in 0..<neededDescriptors {
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw FileError(
                "use", "file descriptors",
                reason: "fewer than \(neededDescriptors) file descriptors are left", code: EMFILE,
                remedy: "raise the limit of file descriptors: ulimit -n")
        }
        descriptors.append(descriptor)
    }
}

/// All of them exist at the same time, as they will when they work.
private func requireThreads(_ neededThreads: Int) throws(FileError) {
    let gate = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(gate, 0, 0)
    var threads: [pthread_t] = []
    var code: CInt = 0
    while threads.count < neededThreads, code == 0 {
        var thread = pthread_t()
        code = pthread_create(
            &thread, nil,
            { gate in
                guard let gate else { return nil }
                while sem_wait(gate.assumingMemoryBound(to: sem_t.self)) == -1 {}
                return nil
            }, gate)
        if code == 0 { threads.append(thread) }
    }
    for _ in threads { sem_post(gate) }
    for thread in threads { pthread_join(thread, nil) }
    sem_destroy(gate)
    gate.deallocate()
    guard code == 0 else {
        throw .tooFewThreads(neededThreads, code: code)
    }
}

/// Of libcurl, Dispatch and OpenSSL while a request is under way.
private let neededDescriptors = 12

extension FileError {
    /// The system refuses some of so many threads.
    static func tooFewThreads(_ needed: Int, code: CInt) -> FileError {
        FileError(
            "use", "threads",
            reason: "fewer than \(needed) threads are available", code: code,
            remedy:
                "raise the limit of processes or memory: ulimit -u, ulimit -v, the control group's "
                + "pids.max")
    }
}

/// Fails where Dispatch's threads cannot work: it reads the state of each in `/proc`, and ends the
/// process if it cannot.
package func requireDispatch() throws(FileError) {
    guard fileExists("/proc/self/stat") else {
        throw FileError(
            "use", "/proc", reason: "it is not mounted, and a server needs it", code: ENOENT,
            remedy: "mount it: mount -t proc proc /proc")
    }
}
