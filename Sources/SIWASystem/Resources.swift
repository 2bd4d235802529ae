internal import Glibc

/// Fails if the system does not give this process a few threads and file descriptors.
///
/// Dispatch waits forever for a thread that it does not get, and ends the process if it gets no
/// descriptor.
///
/// - Parameter threads: the number needed at the same time; a request needs a queue, Dispatch's own
///   thread, and libcurl's resolver.
/// - Throws: ``FileError``, which names the limit to raise; ``FileError/isTemporary`` is true.
package func requireResources(threads: Int = 3) throws(FileError) {
    try requireDescriptors()
    try requireThreads(threads)
}

/// Fails if the process cannot open the descriptors of a request.
///
/// - Throws: ``FileError``, which names the limit to raise; ``FileError/isTemporary`` is true.
package func requireDescriptors() throws(FileError) {
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

/// Starts all of them at the same time, as in real use.
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

/// The descriptors of libcurl, Dispatch and OpenSSL during a request.
private let neededDescriptors = 12

extension FileError {
    /// The error if the system refuses some of the threads.
    static func tooFewThreads(_ needed: Int, code: CInt) -> FileError {
        FileError(
            "use", "threads",
            reason: "fewer than \(needed) threads are available", code: code,
            remedy:
                "raise the limit of processes or memory: ulimit -u, ulimit -v, the control group's "
                + "pids.max")
    }
}

/// Fails if `/proc` is not readable: Dispatch reads the state of its threads there, and ends the
/// process if it cannot.
package func requireDispatch() throws(FileError) {
    guard fileExists("/proc/self/stat") else {
        throw FileError(
            "use", "/proc", reason: "it is not mounted, and a server needs it", code: ENOENT,
            remedy: "mount it: mount -t proc proc /proc")
    }
}
