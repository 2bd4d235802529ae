internal import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// The numbers of records in the database, read at most once in a few seconds.
final class CachedCounts: Sendable {
    private struct Cached {
        let counts: ServerCounts
        let readAt: Duration
    }

    private let access: StoreAccess
    private let elapsed: @Sendable () -> Duration
    private let cached = Mutex<Cached?>(nil)
    private let readings = JoinedCalls<Int, Result<ServerCounts, StoreError>>()

    init(_ access: StoreAccess, _ timekeeper: Timekeeper) {
        (self.access, elapsed) = (access, timekeeper.elapsed)
    }

    /// The counts, at most a few seconds old.
    func current() async throws(StoreError) -> ServerCounts {
        if let cached = cached.withLock({ $0 }), elapsed() - cached.readAt < Self.lifetime {
            return cached.counts
        }
        return try await readings.join(0) { [self] in
            let readAt = elapsed()
            do throws(StoreError) {
                let counts = try await access.run { store throws(StoreError) in
                    try store.counts()
                }
                cached.withLock { $0 = Cached(counts: counts, readAt: readAt) }
                return .success(counts)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private static let lifetime = Duration.seconds(5)
}
