internal import JOSE
internal import Lifecycle
internal import ServerRecords

/// Writes changes that must not be lost. If the database fails, the change is retried in the
/// background as long as the process runs.
struct DurableWrites: Sendable {
    private let access: StoreAccess
    private let clocks: Clocks
    private let log: ServiceLog
    private let background = BackgroundTasks()

    init(_ access: StoreAccess, clocks: Clocks, log: @escaping ServiceLog) {
        (self.access, self.clocks, self.log) = (access, clocks, log)
    }

    /// Changes the database now, or in the background.
    ///
    /// - Parameters:
    ///   - event: the event that is logged if the change is not made immediately.
    ///   - change: may run several times.
    /// - Returns: whether the change is already done.
    func write(
        _ event: String,
        _ change: @escaping @Sendable (any ServerStore) throws(VaultError) -> Void
    ) async -> Bool {
        guard let failure = await attempt(change) else { return true }
        log(ServiceEvent(.error, event, [.init("reason", .string(failure.message))]))
        background.start { [self] in
            var delay = Duration.seconds(1)
            while (try? await clocks.timekeeper.sleep(delay)) != nil {
                if await attempt(change) == nil { return }
                delay = min(delay * 2, .seconds(60))
            }
        }
        return false
    }

    private func attempt(
        _ change: @escaping @Sendable (any ServerStore) throws(VaultError) -> Void
    ) async -> VaultError? {
        do throws(VaultError) {
            try await access.run(change)
            return nil
        } catch {
            return error
        }
    }

    /// Waits until everything is in the database.
    func drain() async { await background.drain() }
}
