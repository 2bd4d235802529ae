internal import Dispatch
internal import Glibc
internal import Synchronization

/// Appends lines to a file on a thread of its own, and makes them outlive a power cut in
/// groups: whoever appends never waits for the disk.
public final class LineWriter: Sendable {
    private let descriptor: CInt
    private let name: String
    /// Whether there is something to sync: a pipe or a terminal has no disk behind it.
    private let isFile: Bool
    private let news: @Sendable () -> Void
    private let sync: @Sendable (CInt) -> CInt
    private let state = Mutex<State>(State())
    private let work = DispatchSemaphore(value: 0)
    /// Ends the pause in which more lines come.
    private let hurry = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    private struct State {
        var pending: [UInt8] = []
        var isClosing = false
        var isRunning = false
        var wasFull = false
        var failure: FileError?
    }

    /// Writes to `descriptor`, which it closes in the end unless it is a standard stream.
    ///
    /// - Parameter news: called on another thread when there is room again, or when writing
    ///   failed; must not block.
    init(
        _ descriptor: CInt, named name: String,
        sync: @escaping @Sendable (CInt) -> CInt = fdatasync,
        news: @escaping @Sendable () -> Void
    ) {
        var status = stat()
        isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        (self.descriptor, self.name, self.sync, self.news) = (descriptor, name, sync, news)
    }

    deinit { if descriptor > STDERR_FILENO { Glibc.close(descriptor) } }

    /// Writes lines to standard output.
    public static func standardOutput(news: @escaping @Sendable () -> Void) -> LineWriter {
        LineWriter(STDOUT_FILENO, named: "standard output", news: news)
    }

    /// Why nothing is written any more; nil while all is well.
    public var failure: FileError? { state.withLock { $0.failure } }

    /// Whether so much waits to be written that nobody should add to it.
    public var isFull: Bool {
        state.withLock { state in
            state.wasFull = state.pending.count > Self.mostPending
            return state.wasFull
        }
    }

    /// Adds whole lines, their ends included. Never blocks.
    public func append(_ lines: [UInt8]) {
        let isIdle = state.withLock { state in
            guard state.failure == nil else { return false }
            defer { state.isRunning = true }
            if !state.isRunning { DispatchQueue(label: "siwa.results").async { self.run() } }
            let before = state.pending.count
            state.pending += lines
            if before < Self.enough, state.pending.count >= Self.enough { hurry.signal() }
            return before == 0
        }
        if isIdle { work.signal() }
    }

    /// Writes what is left, syncs it, and answers whether everything arrived.
    ///
    /// - Throws: ``FileError`` when something could not be written.
    public func close() throws(FileError) {
        let isRunning = state.withLock { state in
            state.isClosing = true
            return state.isRunning
        }
        hurry.signal()
        work.signal()
        if isRunning { ended.wait() }
        if let failure { throw failure }
    }

    private func run() {
        defer { ended.signal() }
        var lastSync = ContinuousClock.now
        var isSynced = true
        // Trades places with what is pending: memory that is used again need not grow again.
        var group: [UInt8] = []
        while true {
            // Lines that nothing follows must not wait for the disk until the end.
            if isSynced { work.wait() } else { _ = work.wait(timeout: .now() + Self.syncWait) }
            // A pause in which more lines come: a write for each would cost more than they do.
            _ = hurry.wait(timeout: .now() + Self.pause)
            group.removeAll(keepingCapacity: true)
            let (isClosing, wasFull) = state.withLock { state in
                swap(&group, &state.pending)
                return (state.isClosing, state.wasFull)
            }
            do throws(FileError) {
                try write(group)
                let now = ContinuousClock.now
                isSynced = !isFile || isSynced && group.isEmpty
                if !isSynced, isClosing || now - lastSync > Self.syncInterval {
                    _ = try system("write", name) { sync(descriptor) }
                    (lastSync, isSynced) = (now, true)
                }
            } catch {
                state.withLock { $0.failure = error }
                return news()
            }
            if wasFull { news() }
            if isClosing { return }
        }
    }

    private func write(_ bytes: [UInt8]) throws(FileError) {
        var done = 0
        while done < bytes.count {
            done += try system("write", name, on: descriptor, until: POLLOUT) {
                bytes.withUnsafeBytes { bytes in
                    Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                }
            }
        }
    }

    /// Short of a power of two, at which the array would take twice as much memory.
    private static let mostPending = 3 << 16
    /// Worth a write of its own.
    private static let enough = 1 << 17
    private static let pause = DispatchTimeInterval.milliseconds(10)
    private static let syncInterval = Duration.milliseconds(200)
    private static let syncWait = DispatchTimeInterval.milliseconds(200)
}
