internal import Dispatch
internal import Glibc
internal import SIWACProcess
internal import SIWACrypto
internal import Synchronization

/// Appends lines to a file on its own thread, and syncs them to the disk in groups: appending never
/// waits for the disk.
package final class LineWriter: Sendable {
    private let descriptor: CInt
    private let name: String
    /// Whether the descriptor can be synced; a pipe or a terminal cannot.
    private let isFile: Bool
    /// The capacity of a pipe in bytes; 0 for other descriptors.
    private let pipeCapacity: Int
    private let isSocket: Bool
    private let notify: @Sendable () -> Void
    private let sync: @Sendable (CInt) -> CInt
    private let state = Mutex<State>(State())
    private let work = DispatchSemaphore(value: 0)
    /// Ends the pause before the next write.
    private let hurry = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    private struct State {
        var pending: [UInt8] = []
        var isClosing = false
        var isRunning = false
        /// Whether the writing thread waits for the first line.
        var isIdle = true
        var wasFull = false
        var failure: FileError?
        /// The lines that were not written.
        var undelivered = 0
        /// The size and number of lines that the file has at least; nil if it is not watched.
        var contents: (size: Int, lines: Int)?
    }

    /// Writes to `descriptor`, which is closed at the end unless it is a standard stream.
    ///
    /// - Parameter notify: called on another thread when lines can be appended again, or when writing
    ///   failed; must not block.
    init(
        _ descriptor: CInt, named name: String,
        sync: @escaping @Sendable (CInt) -> CInt = fdatasync,
        notify: @escaping @Sendable () -> Void
    ) {
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        isFile = kind == S_IFREG
        pipeCapacity = kind == S_IFIFO ? max(Int(fcntl(descriptor, getPipeCapacity)), 0) : 0
        isSocket = kind == S_IFSOCK
        (self.descriptor, self.name, self.sync, self.notify) = (descriptor, name, sync, notify)
    }

    deinit { if descriptor > STDERR_FILENO { Glibc.close(descriptor) } }

    /// Writes lines to standard output.
    package static func standardOutput(notify: @escaping @Sendable () -> Void) -> LineWriter {
        LineWriter(STDOUT_FILENO, named: "standard output", notify: notify)
    }

    /// Expects that the file keeps what it contains and what is appended: ``close()`` fails if another
    /// process truncated or removed it.
    ///
    /// - Parameters:
    ///   - size: its size in bytes.
    ///   - lines: the number of its lines.
    func watch(size: Int, lines: Int) { state.withLock { $0.contents = (size, lines) } }

    /// Why writing has stopped; nil if it has not.
    package var failure: FileError? { state.withLock { $0.failure } }

    /// Whether callers should wait before they append more lines.
    package var isFull: Bool {
        state.withLock { state in
            state.wasFull = state.pending.count > Self.mostPending
            return state.wasFull
        }
    }

    /// The number of appended lines that were certainly not read.
    package var undelivered: Int { state.withLock { $0.undelivered } }

    /// Appends whole lines with their line ends. Never blocks.
    package func append(_ lines: ArraySlice<UInt8>) {
        let isIdle = state.withLock { state in
            guard state.failure == nil else {
                state.undelivered += lineCount(lines)
                return false
            }
            defer { state.isRunning = true }
            if !state.isRunning { DispatchQueue(label: "siwa.results").async { self.run() } }
            let before = state.pending.count
            state.pending += lines
            if before < Self.enough, state.pending.count >= Self.enough { hurry.signal() }
            defer { state.isIdle = false }
            return state.isIdle
        }
        if isIdle { work.signal() }
    }

    /// Writes the remaining lines and syncs them.
    ///
    /// - Throws: ``FileError`` if something could not be written.
    package func close() throws(FileError) {
        let isRunning = state.withLock { state in
            state.isClosing = true
            return state.isRunning
        }
        hurry.signal()
        work.signal()
        if isRunning { ended.wait() }
        if let failure { throw failure }
        try checkContents()
    }

    /// Fails if lines are missing that were in the file.
    private func checkContents() throws(FileError) {
        guard let expected = state.withLock({ $0.contents }) else { return }
        var status = stat()
        _ = try system("write", name) { fstat(descriptor, &status) }
        guard Int(status.st_size) < expected.size || status.st_nlink == 0 else { return }
        let left = status.st_nlink == 0 ? 0 : linesInFile()
        let error = FileError(
            "write", name,
            reason: "another process \(status.st_nlink == 0 ? "removed" : "truncated") it",
            code: EIO, remedy: "keep other processes from changing the file")
        state.withLock { state in
            state.failure = error
            state.undelivered += max(expected.lines - left, 1)
        }
        throw error
    }

    /// The number of line ends in the file.
    private func linesInFile() -> Int {
        var (count, place) = (0, 0)
        var chunk = [UInt8](repeating: 0, count: Self.enough)
        while case let got = pread(descriptor, &chunk, chunk.count, off_t(place)), got > 0 {
            count += lineCount(chunk[..<got])
            place += got
        }
        return count
    }

    private func run() {
        defer { ended.signal() }
        var lastSync = ContinuousClock.now
        var isSynced = true
        var unsynced = 0
        // Swapped with the pending lines, so that memory is reused.
        var group: [UInt8] = []
        /// The bytes that the pipe may still contain.
        var tail: [UInt8] = []
        var isIdle = true
        while true {
            // The last lines must not wait for the disk until the end.
            if isIdle {
                if isSynced { work.wait() } else { _ = work.wait(timeout: .now() + Self.syncWait) }
            }
            // Waits for more lines, because writing each line separately would be slow.
            _ = hurry.wait(timeout: .now() + Self.pause)
            group.removeAll(keepingCapacity: true)
            let (isClosing, wasFull) = state.withLock { state in
                swap(&group, &state.pending)
                // Lines that come while the last ones are written find it busy, and wake it once less.
                (isIdle, state.isIdle) = (group.isEmpty, group.isEmpty)
                return (state.isClosing, state.wasFull)
            }
            var written = 0
            do throws(FileError) {
                try write(group, &written)
                // So that a sync does not have all to write, while lines wait for it.
                unsynced += group.count
                if isFile, unsynced >= Self.muchUnsynced {
                    _ = siwa_begin_sync(descriptor)
                    unsynced = 0
                }
                note(group)
                keep(group[...], in: &tail)
                if isClosing, unreadLines(tail) > 0 { throw FileError("write", name, code: EPIPE) }
                let now = ContinuousClock.now
                isSynced = !isFile || isSynced && group.isEmpty
                if !isSynced, isClosing || now - lastSync > Self.syncInterval {
                    _ = try system("write", name) { sync(descriptor) }
                    (lastSync, isSynced) = (now, true)
                }
            } catch {
                if written < group.count { keep(group[..<written], in: &tail) }
                fail(error, losing: lineCount(group[written...]) + unreadLines(tail))
                return notify()
            }
            if wasFull { notify() }
            if isClosing { return }
        }
    }

    /// Records that writing failed, and the number of lines lost besides the pending ones.
    private func fail(_ error: FileError, losing lines: Int) {
        state.withLock { state in
            state.failure = error
            state.undelivered += lines + lineCount(state.pending[...])
            state.pending = []
        }
    }

    /// Notes what was written to a watched file.
    private func note(_ group: [UInt8]) {
        let lines = lineCount(group[...])
        state.withLock { state in
            guard let contents = state.contents else { return }
            state.contents = (contents.size + group.count, contents.lines + lines)
        }
    }

    /// Remembers the last bytes of a pipe.
    private func keep(_ group: ArraySlice<UInt8>, in tail: inout [UInt8]) {
        guard pipeCapacity > 0 else { return }
        tail += group
        guard tail.count > 2 * pipeCapacity else { return }
        tail.removeFirst(tail.count - pipeCapacity)
    }

    /// The number of lines that were certainly unread when the reader closed the stream; 0 while it
    /// is open.
    ///
    /// A pipe reports the number of unread bytes. A socket reports only that some were unread, so
    /// at least one line.
    private func unreadLines(_ tail: [UInt8]) -> Int {
        var unread: CInt = 0
        var readiness = pollfd(fd: descriptor, events: 0, revents: 0)
        guard pipeCapacity > 0 || isSocket, poll(&readiness, 1, 0) == 1,
            readiness.revents & Int16(POLLERR) != 0
        else { return 0 }
        if isSocket { return 1 }
        guard ioctl(descriptor, UInt(FIONREAD), &unread) == 0, unread > 0 else { return 0 }
        return lineCount(tail.suffix(Int(unread)))
    }

    private func write(_ bytes: [UInt8], _ done: inout Int) throws(FileError) {
        while done < bytes.count {
            done += try system("write", name, on: descriptor, until: POLLOUT) {
                bytes.withUnsafeBytes { bytes in
                    Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                }
            }
        }
    }

    /// Less than a power of two, at which the array would double its memory.
    private static let mostPending = 7 << 16
    /// The least size of a write.
    private static let enough = 1 << 17
    private static let muchUnsynced = 1 << 20
    private static let pause = DispatchTimeInterval.milliseconds(10)
    private static let syncInterval = Duration.milliseconds(200)
    private static let syncWait = DispatchTimeInterval.milliseconds(200)
}

/// `F_GETPIPE_SZ` of Linux, a macro that Swift does not import.
private let getPipeCapacity: CInt = 1032

/// The number of line ends.
private func lineCount(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { bytes in
        var (count, rest) = (0, bytes)
        while let end = rest.firstIndex(ofByte: 0x0A) {
            count += 1
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        return count
    }
}
