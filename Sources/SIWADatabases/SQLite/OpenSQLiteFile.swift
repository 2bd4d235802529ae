internal import Glibc
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

/// The mark that this process has a connection to a file, for as long as it is kept.
///
/// SQLite finds a file's write-ahead log, and the log's index, by their names. A file that was put in
/// the place of one which is open has the other one's log beside it: whoever opens it writes that log
/// into it, and deletes the log; and of two processes of which one has an index that was deleted, each
/// overwrites what the other wrote (sqlite.org/howtocorrupt.html, section 4). So no connection is opened
/// or used then.
final class OpenSQLiteFile: Sendable {
    private let path: String
    private let identity: FileIdentity?

    /// The connections of this process to a file.
    private struct Connections {
        var count = 0
        /// How many of them have the log open: while one has, no process removes it.
        var withLog = 0
        /// The log, since the first of them opened it.
        var log: SQLiteLog?
    }

    /// The files that this process has open, by the path that they were opened by.
    private static let open = Mutex<[String: [FileIdentity: Connections]]>([:])

    /// - Throws: if the log beside the file belongs to another one, or is not the one that others use.
    init(_ path: String) throws(DatabaseFailure) {
        let path = resolvedPath(path)
        let identity = fileIdentity(path)
        (self.path, self.identity) = (path, identity)
        guard let identity else { return }
        try Self.open.withLock { open throws(DatabaseFailure) in
            let files = open[path, default: [:]]
            if files.isEmpty, let fault = faultOfLog(path) { throw unusable(fault) }
            // This process has the file that was in its place.
            if !files.isEmpty, files[identity] == nil, access(path + "-shm", F_OK) == 0 {
                throw unusable(foreignLog(path))
            }
            open[path, default: [:]][identity, default: Connections()].count += 1
        }
    }

    deinit {
        update { connections in connections.count -= 1 }
    }

    /// The caller's connection has the log open.
    func useLog() {
        let now = SQLiteLog(path)
        update { connections in
            connections.withLog += 1
            if connections.log == nil, now.isWhole { connections.log = now }
        }
    }

    /// The caller's connection is about to close the log, which SQLite removes if no other has it open.
    func stopUsingLog() {
        update { connections in
            connections.withLog -= 1
            if connections.withLog == 0 { connections.log = nil }
        }
    }

    /// Fails if the log is not the one that connections of this process have open.
    func requireLog() throws(DatabaseFailure) {
        guard let identity else { return }
        let now = SQLiteLog(path)
        let known = Self.open.withLock { open in open[path]?[identity]?.log }
        guard let known, known != now else { return }
        let suffix = known.log == now.log ? "-shm" : "-wal"
        throw unusable("'\(path)\(suffix)' was deleted, moved or replaced while it was open")
    }

    private func update(_ change: (inout Connections) -> Void) {
        guard let identity else { return }
        Self.open.withLock { open in
            guard var connections = open[path]?[identity] else { return }
            change(&connections)
            open[path]?[identity] = connections.count > 0 ? connections : nil
            if open[path]?.isEmpty == true { open[path] = nil }
        }
    }
}

/// The write-ahead log at a path, and its index.
private struct SQLiteLog: Equatable {
    let log: FileIdentity?
    let index: FileIdentity?

    init(_ path: String) {
        (log, index) = (fileIdentity(path + "-wal"), fileIdentity(path + "-shm"))
    }

    var isWhole: Bool { log != nil && index != nil }
}

private func unusable(_ fault: String) -> DatabaseFailure {
    DatabaseFailure(StoreError(.unusable, fault, remedy: replacedFileRemedy))
}

private func foreignLog(_ path: String) -> String {
    """
    '\(path)' is not the file that a running program has open, to which the log '\(path)-wal' belongs: \
    it was put in that file's place
    """
}

/// What to do about a file that was deleted, moved or replaced while a program had it open.
let replacedFileRemedy = """
    if it was moved, move it back; if it was deleted or replaced, save the vault first, as the runbook \
    'Back up and restore' says, because the program still has it open; then start the program again
    """

/// Why the log at a path is not the one that other processes use with the file; nil if it is.
///
/// A process that begins or ends has the lock of the file alone for a moment, which is a long one on a busy
/// machine: so a fault is one that lasts a second.
private func faultOfLog(_ path: String) -> String? {
    var fault: String?
    for _ in 0..<100 {
        fault = faultOfLogNow(path)
        guard fault != nil else { return nil }
        usleep(10_000)
    }
    return fault
}

/// SQLite keeps a shared lock of the file for as long as it has one of the log's index (os.h, os_unix.c:
/// SHARED_FIRST, SHARED_SIZE and UNIX_SHM_DMS), and then has the log open. While it makes the log or
/// removes it, its lock of the file is exclusive.
private func faultOfLogNow(_ path: String) -> String? {
    // Locks of a file that this process may not open are not seen; SQLite says why it cannot be opened.
    for file in [path, path + "-shm"]
    where faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) != 0 && errno != ENOENT { return nil }
    let hasIndex = lockOfOthers(path + "-shm", from: 128, count: 1) != nil
    switch lockOfOthers(path, from: 0x4000_0002, count: 510) {
    case nil: return hasIndex ? foreignLog(path) : nil
    case .exclusive: return nil
    case .shared where !hasIndex && hasLog(path):
        return
            "'\(path)-shm' is not the one that a running program has open: it was deleted or moved"
    case .shared where hasIndex && access(path + "-wal", F_OK) != 0:
        return "'\(path)-wal', which a running program has open, was deleted or moved"
    case .shared: return nil
    }
}

/// Whether the file's header says that it is used with a write-ahead log (SQLite's documentation,
/// "Database File Format", section 1.3.3).
private func hasLog(_ path: String) -> Bool {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    var versions: [UInt8] = [0, 0]
    return pread(file, &versions, 2, 18) == 2 && versions == [2, 2]
}
