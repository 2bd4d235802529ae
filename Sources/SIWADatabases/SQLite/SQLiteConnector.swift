internal import Glibc
internal import SIWACSQLite
internal import SIWALifecycle
internal import SIWASystem

/// A file that has, or will have, a vault.
struct SQLiteConnector: DatabaseConnector {
    private let path: String
    private let timeout: StoreTimeout

    init(path: String, timeout: StoreTimeout) { (self.path, self.timeout) = (path, timeout) }

    var name: String { "'\(path)'" }

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        let sqlite = try lifting { () throws(StoreError) in try SQLiteLibrary.functions.get() }
        if creating { try makeFile() } else { try findFile() }
        let database = try SQLiteDatabase(sqlite, path, timeout)
        if creating { try database.startLog() }
        return database
    }

    func requireAccess() throws(DatabaseFailure) {
        try findFile()
        try requireFileAccess(to: path)
    }

    func removeIfEmpty() throws(DatabaseFailure) {
        guard try connect(creating: false).run("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty else {
            return
        }
        for file in [path, path + "-wal", path + "-shm"] where unlink(file) != 0 && errno != ENOENT
        {
            throw refusal("cannot be removed")
        }
    }

    /// Creates the file before SQLite does, which would make it readable by everyone. SQLite's
    /// other files get the mode of this one.
    private func makeFile() throws(DatabaseFailure) {
        do throws(FileError) {
            try requireOwnFolder("create", path)
        } catch {
            throw DatabaseFailure(
                StoreError(.unusable, error.description, remedy: error.remedy))
        }
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return }
            throw refusal("cannot be made")
        }
        close(file)
    }

    /// Checks the file first, because SQLite does not distinguish a missing file from an unreadable
    /// one.
    private func findFile() throws(DatabaseFailure) {
        guard access(path, F_OK) != 0 else { return }
        guard errno == ENOENT || errno == ENOTDIR else { throw refusal("cannot be opened") }
        throw DatabaseFailure(.notInitialized, "there is no vault in \(name)")
    }

    private func refusal(_ what: String) -> DatabaseFailure {
        let code = errno
        let limit = systemLimitRemedy(code)
        return DatabaseFailure(
            StoreError(
                code == ENOSPC || limit != nil ? .full : .unusable,
                "\(name) \(what): \(String(cString: strerror(code)).lowercased())",
                remedy: limit ?? ownershipRemedy(code, path)))
    }
}

/// Fails if a file and its folder, in which SQLite has further files, cannot be written. A missing file
/// is no failure. Of a link, SQLite uses the folder of the file itself.
func requireFileAccess(to path: String) throws(DatabaseFailure) {
    let path = resolvedPath(path)
    let folder = folderPrefix(of: path)
    for (place, mode) in [(folder.isEmpty ? "." : folder, W_OK | X_OK), (path, R_OK | W_OK)] {
        guard faccessat(AT_FDCWD, place, mode, AT_EACCESS) != 0, errno != ENOENT else { continue }
        let code = errno
        throw DatabaseFailure(
            StoreError(
                .unusable,
                "'\(place)' cannot be written: \(String(cString: strerror(code)).lowercased())",
                remedy: ownershipRemedy(code, path)))
    }
}
