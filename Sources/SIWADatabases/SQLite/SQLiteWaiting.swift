internal import Glibc
internal import SIWACSQLite
internal import SIWALifecycle

/// The time limit of a statement of SQLite, for waiting and working.
final class SQLiteWaiting {
    private let timeout: StoreTimeout
    /// The limit of the statement; nil until it waits or works for long.
    private var limit: WaitLimit?
    private var isEndless = false

    init(_ timeout: StoreTimeout) {
        self.timeout = timeout
    }

    /// Installs this object in a connection, which it must outlive.
    func install(on connection: OpaquePointer, _ sqlite: siwa_sqlite) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = sqlite.call.sqlite3_busy_handler(connection, waitForOthers, context)
        sqlite.call.sqlite3_progress_handler(connection, Self.stepsBetweenChecks, isToStop, context)
    }

    /// Begins a statement. Its time starts when it first waits, or after the first check: most
    /// statements end before, and need not ask for the time.
    func begin() { limit = nil }

    private var started: WaitLimit {
        let limit = limit ?? WaitLimit(timeout)
        self.limit = limit
        return limit
    }

    /// Runs an operation without a time limit, which must not wait for other processes.
    func withoutEnd<Result>(
        _ body: () throws(DatabaseFailure) -> Result
    ) throws(DatabaseFailure) -> Result {
        isEndless = true
        defer { isEndless = false }
        return try body()
    }

    /// Waits a moment for the process that has locked the vault.
    ///
    /// - Parameter count: the number of earlier waits.
    /// - Returns: false if the time limit is reached.
    fileprivate func waitAgain(after count: CInt) -> Bool {
        let limit = started
        guard !limit.isOver else { return false }
        let milliseconds = min(CInt(1) << min(count, 7), 100, limit.slice)
        var pause = timespec(tv_sec: 0, tv_nsec: Int(milliseconds) * 1_000_000)
        // A signal ends the pause early, and may have shortened the timeout.
        nanosleep(&pause, nil)
        return true
    }

    fileprivate var mustStop: Bool { !isEndless && started.isOver }

    /// A number of instructions of SQLite's virtual machine that takes less than a millisecond.
    private static let stepsBetweenChecks: CInt = 20_000
}

private let waitForOthers: @convention(c) (UnsafeMutableRawPointer?, CInt) -> CInt = {
    guard let context = $0 else { return 0 }
    let waiting = Unmanaged<SQLiteWaiting>.fromOpaque(context).takeUnretainedValue()
    return waiting.waitAgain(after: $1) ? 1 : 0
}

private let isToStop: @convention(c) (UnsafeMutableRawPointer?) -> CInt = {
    guard let context = $0 else { return 0 }
    return Unmanaged<SQLiteWaiting>.fromOpaque(context).takeUnretainedValue().mustStop ? 1 : 0
}
