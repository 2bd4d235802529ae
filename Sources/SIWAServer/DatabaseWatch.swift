internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// Notes which calls of the database failed: whether the last write that needed space failed for want
/// of it, when a record could last not be read, when one waited too long, and that the heartbeat has to
/// look at once.
final class DatabaseWatch: Sendable {
    /// Wakes after each failure that is not a mere wait.
    let failures = WakeSignal()
    private let failure = Mutex<String?>(nil)
    private let unreadable = Mutex<NumericDate?>(nil)
    private let busy = Mutex<NumericDate?>(nil)
    private let now: @Sendable () -> NumericDate
    private let free: @Sendable () -> Int?

    /// - Parameter free: the free bytes of the database's file system; nil if that is unknown.
    init(
        _ now: @escaping @Sendable () -> NumericDate,
        free: @escaping @Sendable () -> Int? = { nil }
    ) {
        (self.now, self.free) = (now, free)
    }

    func fail(_ error: StoreError) {
        if error.kind == .busy {
            busy.withLock { $0 = now() }
        } else {
            failures.notify()
        }
        noteRecord(error)
        guard error.kind == .full else { return }
        failure.withLock { $0 = error.message }
    }

    /// Notes an error that concerns one record, or a part of the database, which no other call meets.
    func noteRecord(_ error: StoreError) {
        // Without its key, no record can be read, and the server is not ready.
        guard error.isAboutRecord || error.kind == .damaged, error.kind != .key else { return }
        unreadable.withLock { $0 = now() }
    }

    /// Forgets it, because a fault of the whole database was the cause.
    func forgetRecord() { unreadable.withLock { $0 = nil } }

    /// When a record could last not be read; nil if all could.
    var unreadableRecordAt: NumericDate? { unreadable.withLock { $0 } }

    /// When a call was last given up because others held the database for too long; nil if none was.
    var busyAt: NumericDate? { busy.withLock { $0 } }

    func succeed() { failure.withLock { $0 = nil } }

    var isFull: Bool { failure.withLock { $0 != nil } }

    /// The free bytes of the database's file system; nil if that is unknown.
    var freeSpace: Int? { free() }

    /// Why writes fail; nil if they do not.
    var fault: String? { failure.withLock { $0 } }

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
