internal import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
package import SIWASystem
package import SIWAVaultRecords
internal import Synchronization

/// The metrics of a job for Prometheus: collected while a command runs, and written when it ends.
package final class TaskMetrics: Sendable {
    /// The metrics that one command collected.
    package struct Findings: Sendable {
        /// How many items of a batch ended in each status; nil for a command that is not a batch.
        package var items: [BatchStatus: Int]?
        /// How many records of a vault other runs held; nil for a batch without a vault.
        package var heldItems: Int?
        /// When the command's client_secret expires.
        var secretExpiresAt: NumericDate?
        /// The name of the profile; empty without one.
        var profile = ""
        /// The number of tokens of each client in each state.
        package var vaultTokens: [VaultCount: Int]?
        /// When Apple's key set was fetched, if it was used.
        var keySetFetchedAt: NumericDate?
    }

    /// The client and the state by which tokens of the vault are counted.
    package struct VaultCount: Hashable, Sendable {
        let clientID: ClientID
        package let state: VaultState

        package init(clientID: ClientID, state: VaultState) {
            (self.clientID, self.state) = (clientID, state)
        }
    }

    private struct Order: Sendable {
        let path: String
        let task: String
        let console: Console
        /// By the monotonic clock.
        let start: Duration
    }

    private let order = Mutex<Order?>(nil)
    private let findings = Mutex(Findings())

    init() {}

    /// Writes metrics when the command ends.
    ///
    /// - Parameter task: the name of the job in monitoring.
    /// - Throws: ``FileError`` if the file must not be replaced, before anything is done. A file
    ///   that cannot be written is a warning at the end.
    package func begin(
        writingTo path: String, as task: String, _ console: Console, in world: World
    ) throws(FileError) {
        do throws(FileError) {
            try world.files.checkReplacement(path, .metrics)
        } catch {
            guard !error.isRefusedReplacement else { throw error }
        }
        let start = world.clocks.timekeeper.elapsed()
        order.withLock { $0 = Order(path: path, task: task, console: console, start: start) }
    }

    /// Changes the metrics.
    package func note(_ change: (inout Findings) -> Void) { findings.withLock { change(&$0) } }

    /// Writes the file, if one was named. A failure is a warning.
    package func write(_ exitCode: CInt, in world: World) {
        guard let order = order.withLock({ $0 }) else { return }
        var page = TaskMetricsPage(
            task: order.task, exitCode: exitCode, endedAt: world.clocks.now(),
            duration: world.clocks.timekeeper.elapsed() - order.start,
            findings: findings.withLock { $0 })
        if let old = try? world.files.readRegular(order.path) {
            page.keepLasting(of: String(decoding: old.contents.revealed(), as: UTF8.self))
        }
        do throws(FileError) {
            try world.files.replace(SecretBytes(page.text.utf8), order.path, .metrics)
        } catch {
            order.console.warn("the metrics were not written: \(error)")
        }
    }
}

/// The status of an item in its result line.
package enum BatchStatus: String, Sendable, CaseIterable {
    /// Done.
    case done
    /// Apple, or a check, refused this item.
    case refused
    /// All attempts failed for a temporary reason.
    case failed
    /// The line of the input is not an item.
    case invalid
}

extension ReplacementRule {
    /// The metrics of `--metrics`, which everyone may read. A pipe or a device is refused, because
    /// writing it could wait forever.
    static let metrics = Self(
        "metrics of siwa", permissions: 0o644, allowsStreams: false
    ) { contents in
        let text = contents.revealed()
        return ["# HELP siwa_", "# TYPE siwa_"].contains { text.starts(with: $0.utf8) }
    }
}
