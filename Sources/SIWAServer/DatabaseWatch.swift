internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// Notes which calls of the database failed: whether the last write that needed space failed for want
/// of it, when a record could last not be read, when one waited too long or was refused, and that the
/// heartbeat has to look at once.
final class DatabaseWatch: Sendable {
    /// Wakes after each failure that is not a mere wait.
    let failures = WakeSignal()
    private let notes = Mutex(Notes())
    private let now: @Sendable () -> NumericDate
    private let free: @Sendable () -> Int?
    private let isFile: Bool

    private struct Notes {
        /// Why the last write that needed space failed; nil if it succeeded.
        var fullDisk: String?
        var unreadableRecordAt: NumericDate?
        var busyAt: NumericDate?
        var refusal: ServerFacts.RefusedCall?
    }

    /// - Parameters:
    ///   - isFile: whether the database is a file, of which a part may be damaged. A server refuses what
    ///     its tables, triggers and policies do not allow.
    ///   - free: the free bytes of the database's file system; nil if that is unknown.
    init(
        _ now: @escaping @Sendable () -> NumericDate, isFile: Bool,
        free: @escaping @Sendable () -> Int? = { nil }
    ) {
        (self.now, self.isFile, self.free) = (now, isFile, free)
    }

    func fail(_ error: StoreError) {
        if error.kind == .busy {
            notes.withLock { $0.busyAt = now() }
        } else {
            failures.notify()
        }
        noteRecord(error)
        if error.kind == .unusable || error.kind == .damaged {
            notes.withLock { $0.refusal = .init(at: now(), reason: error.message) }
        }
        guard error.kind == .full else { return }
        notes.withLock { $0.fullDisk = error.message }
    }

    /// Notes an error that concerns one record, or a part of the database, which no other call meets.
    func noteRecord(_ error: StoreError) {
        // Without its key, no record can be read, and the server is not ready.
        guard error.isAboutRecord || error.kind == .damaged && isFile, error.kind != .key else {
            return
        }
        notes.withLock { $0.unreadableRecordAt = now() }
    }

    /// Forgets what calls met while the whole database could not be used.
    ///
    /// - Parameter record: whether the cause of unreadable records was that, too.
    func forget(record: Bool) {
        notes.withLock { notes in
            notes.refusal = nil
            if record { notes.unreadableRecordAt = nil }
        }
    }

    /// The last call that the database refused; nil if there was none.
    var refusal: ServerFacts.RefusedCall? { notes.withLock { $0.refusal } }

    /// When a record could last not be read; nil if all could.
    var unreadableRecordAt: NumericDate? { notes.withLock { $0.unreadableRecordAt } }

    /// When a call was last given up because others held the database for too long; nil if that never
    /// happened.
    var busyAt: NumericDate? { notes.withLock { $0.busyAt } }

    func succeed() { notes.withLock { $0.fullDisk = nil } }

    var isFull: Bool { fault != nil }

    /// The free bytes of the database's file system; nil if that is unknown.
    var freeSpace: Int? { free() }

    /// Why writes fail; nil if they do not.
    var fault: String? { notes.withLock { $0.fullDisk } }

    /// The message of a full disk, with what to do.
    static func full(_ message: String) -> String { message + "; make room for the database" }

    /// Why the server is not ready although writes succeed; nil if there is enough space.
    var warning: String? { Self.warning(freeSpace) }

    /// The same, before a server runs.
    static func warning(_ free: Int?) -> String? {
        guard let free, free < ServerFacts.neededSpace else { return nil }
        return "only \(free >> 20) MiB are free where the vault is, and "
            + "\(ServerFacts.neededSpace >> 20) MiB are needed"
    }

    /// Fails if a server could not write what it writes when it starts.
    static func requireSpace(_ free: Int?) throws(StoreError) {
        guard let free, free < leastToStart else { return }
        throw StoreError(
            .full,
            "only \(free >> 10) KiB are free where the vault is, and a server needs "
                + "\(leastToStart >> 10) KiB to start")
    }

    /// The space of tokens that cannot be stored, and what SQLite writes before it serves.
    private static let leastToStart = 256 << 10
}
