internal import Glibc
internal import SIWACSQLite
internal import SIWALifecycle
internal import SIWASystem

extension StoreError.Kind {
    /// The error for a result code of SQLite.
    ///
    /// - Parameter system: the system's error number, if there was one.
    init(sqlite code: CInt, system: CInt) {
        // SQLITE_IOERR_WRITE, after which SQLite may have lost the system's error number.
        let isWrite = code == SQLITE_IOERR | 3 << 8
        let isFull =
            [ENOSPC, EDQUOT].contains(system) || systemLimitRemedy(system) != nil
            || isWrite && system == 0
        self =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: .busy
            case SQLITE_FULL: .full
            case SQLITE_IOERR, SQLITE_CANTOPEN: isFull ? .full : .unusable
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            case SQLITE_CONSTRAINT: code == siwa_foreign_key_missing ? .key : .damaged
            default: .unusable
            }
    }
}

extension siwa_sqlite {
    /// The failure on `connection` to the file at `path`.
    func failure(_ code: CInt, _ connection: OpaquePointer?, _ path: String) -> DatabaseFailure {
        let system = call.sqlite3_system_errno(connection)
        let kind = StoreError.Kind(sqlite: code, system: system)
        return DatabaseFailure(
            StoreError(
                kind, "'\(path)': \(reason(code, connection, system))",
                remedy: code == siwa_foreign_key_missing
                    ? StoreError.unknownKeyRemedy : limitRemedy(code, system, kind, path)))
    }

    /// SQLite may have lost the system's error number of a write.
    private func limitRemedy(
        _ code: CInt, _ system: CInt, _ kind: StoreError.Kind, _ path: String
    ) -> String? {
        let isSystems = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        if isSystems, let remedy = systemLimitRemedy(system) { return remedy }
        // SQLite opens its other files, too, and may have lost the system's error number.
        if isSystems {
            for path in [path, path + "-wal", path + "-shm"] where access(path, R_OK | W_OK) != 0 {
                if let remedy = ownershipRemedy(errno, path) { return remedy }
            }
        }
        guard kind == .full, [path, path + "-wal"].contains(where: isAtFileSizeLimit) else {
            return nil
        }
        return systemLimitRemedy(EFBIG)
    }

    private func reason(_ code: CInt, _ connection: OpaquePointer?, _ system: CInt) -> String {
        switch code & 0xFF {
        case SQLITE_NOTADB: return "this file is not an SQLite database"
        case SQLITE_BUSY, SQLITE_LOCKED: return "another process holds the vault for too long"
        case SQLITE_INTERRUPT: return "the vault did not finish the statement in time"
        case SQLITE_CONSTRAINT where code == siwa_foreign_key_missing:
            return "the vault does not know the key that a record is sealed with"
        default: break
        }
        let words = call.sqlite3_errmsg(connection).map { String(cString: $0) } ?? "error \(code)"
        let isSystems = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) && system != 0
        return isSystems ? "\(words): \(String(cString: strerror(system)).lowercased())" : words
    }
}
