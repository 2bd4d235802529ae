internal import SIWALifecycle
internal import Synchronization

/// Remembers whether the last write that needed space failed for want of it.
final class SpaceWatch: Sendable {
    private let failure = Mutex<String?>(nil)
    private let free: @Sendable () -> Int?

    /// The free space that an SQLite database needs.
    private static let needed = 16 << 20

    /// - Parameter free: the free bytes of the database's file system; nil if that is unknown.
    init(free: @escaping @Sendable () -> Int? = { nil }) { self.free = free }

    func fail(_ error: StoreError) {
        guard error.kind == .full else { return }
        failure.withLock { $0 = error.message }
    }

    func succeed() { failure.withLock { $0 = nil } }

    var isFull: Bool { failure.withLock { $0 != nil } }

    /// The free bytes of the database's file system; nil if that is unknown.
    var freeSpace: Int? { free() }

    /// Why there is not enough space; nil if there is.
    var fault: String? {
        if let failure = failure.withLock({ $0 }) { return failure }
        guard let free = freeSpace, free < Self.needed else { return nil }
        return "only \(free >> 20) MiB are free where the vault is, and 16 MiB are needed"
    }
}
