internal import Glibc
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

/// The mark that this process has a connection to a file, for as long as it is kept.
///
/// SQLite finds a file's write-ahead log by its name. A file that was put in the place of one which
/// is open has the other one's log beside it: whoever opens it writes that log into it, and deletes
/// the log (sqlite.org/howtocorrupt.html, section 4.5). So no connection opens such a file.
final class OpenSQLiteFile: Sendable {
    private let path: String
    private let identity: FileIdentity?

    /// Which files this process has open by a path, and how often.
    private static let open = Mutex<[String: [FileIdentity: Int]]>([:])

    /// - Throws: if the log beside the file belongs to another one.
    init(_ path: String) throws(DatabaseFailure) {
        let path = resolvedPath(path)
        let identity = fileIdentity(path)
        (self.path, self.identity) = (path, identity)
        guard let identity else { return }
        try Self.open.withLock { open throws(DatabaseFailure) in
            let files = open[path, default: [:]]
            if files[identity] == nil {
                let isForeign =
                    files.isEmpty
                    ? isLogOfAnotherProcess(path) : access(path + "-shm", F_OK) == 0
                if isForeign { throw Self.foreignLog(path) }
            }
            open[path, default: [:]][identity, default: 0] += 1
        }
    }

    deinit {
        guard let identity else { return }
        Self.open.withLock { open in
            let count = open[path]?[identity] ?? 0
            open[path]?[identity] = count > 1 ? count - 1 : nil
            if open[path]?.isEmpty == true { open[path] = nil }
        }
    }

    private static func foreignLog(_ path: String) -> DatabaseFailure {
        DatabaseFailure(
            StoreError(
                .unusable,
                """
                '\(path)' is not the file that a running program has open, to which the log \
                '\(path)-wal' belongs: it was put in that file's place
                """,
                remedy: replacedFileRemedy))
    }
}

/// What to do about a file that was deleted, moved or replaced while a program had it open.
let replacedFileRemedy = """
    if it was moved, move it back; if it was deleted or replaced, save it first, as the runbook \
    'Back up and restore' says, because the program still has it open; then start the program again
    """

/// Whether another process uses the log of a file without having the file open. SQLite keeps a shared
/// lock of the file for as long as it has one of the log's index, in "-shm" (os.h, os_unix.c:
/// SHARED_FIRST, SHARED_SIZE and UNIX_SHM_DMS).
private func isLogOfAnotherProcess(_ path: String) -> Bool {
    // Twice: a process may have ended between the two looks.
    (0..<2).allSatisfy { _ in
        lockHolder(path + "-shm", from: 128, count: 1) != nil
            && lockHolder(path, from: 0x4000_0002, count: 510) == nil
    }
}
