internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto
internal import Synchronization

/// The metrics of a job for Prometheus: collected while a command runs, and written when it ends.
final class TaskMetrics: Sendable {
    /// The metrics that one command collected.
    struct Findings: Sendable {
        /// How many items of a batch ended in each status; nil for a command that is not a batch.
        var items: [BatchStatus: Int]?
        /// How many records of a vault other runs held; nil for a batch without a vault.
        var heldItems: Int?
        /// When the command's client_secret expires.
        var secretExpiresAt: NumericDate?
        /// The name of the profile; empty without one.
        var profile = ""
        /// The number of tokens of each client in each state.
        var vaultTokens: [VaultCount: Int]?
        /// When Apple's key set was fetched, if it was used.
        var keySetFetchedAt: NumericDate?
    }

    /// The client and the state by which tokens of the vault are counted.
    struct VaultCount: Hashable, Sendable {
        let clientID: ClientID
        let state: VaultState
    }

    private struct Order: Sendable {
        let argument: MetricsArgument
        let console: Console
        /// By the monotonic clock.
        let start: Duration
    }

    private let order = Mutex<Order?>(nil)
    private let findings = Mutex(Findings())

    /// Writes metrics when the command ends, if `argument` names a file.
    ///
    /// - Throws: ``FileError`` if that file must not be replaced, before anything is done. A file
    ///   that cannot be written is a warning at the end.
    func begin(
        _ argument: MetricsArgument?, _ options: GlobalOptions, in world: World
    ) throws(FileError) {
        guard let argument else { return }
        do throws(FileError) {
            try world.files.checkReplacement(argument.path, .metrics)
        } catch {
            guard !error.isRefusedReplacement else { throw error }
        }
        let new = Order(
            argument: argument, console: Console(world, options),
            start: world.clocks.timekeeper.elapsed())
        order.withLock { $0 = new }
    }

    /// Changes the metrics.
    func note(_ change: (inout Findings) -> Void) { findings.withLock { change(&$0) } }

    /// Sets the counts of a batch.
    ///
    /// - Parameter held: the records of a vault that other runs held.
    func noteItems(_ counts: BatchCounts, held: Int?) {
        note {
            $0.heldItems = held
            $0.items = [
                .done: counts.done, .refused: counts.refused, .failed: counts.failed,
                .invalid: counts.invalid,
            ]
        }
    }

    /// Writes the file, if one was named. A failure is a warning.
    func write(_ exitCode: CInt, in world: World) {
        guard let order = order.withLock({ $0 }) else { return }
        let path = order.argument.path
        var page = TaskMetricsPage(
            task: order.argument.task, exitCode: exitCode, endedAt: world.clocks.now(),
            duration: world.clocks.timekeeper.elapsed() - order.start,
            findings: findings.withLock { $0 })
        if let old = try? world.files.readRegular(path) {
            page.keepLasting(of: String(decoding: old.contents.revealed(), as: UTF8.self))
        }
        do throws(FileError) {
            try world.files.replace(SecretBytes(page.text.utf8), path, .metrics)
        } catch {
            order.console.warn("the metrics were not written: \(error)")
        }
    }
}
