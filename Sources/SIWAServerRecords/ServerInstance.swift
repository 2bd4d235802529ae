internal import SIWALifecycle
internal import SIWAVaultRecords

/// A running siwa-server.
package struct ServerInstance: Hashable, Sendable {
    /// Identifies this run of the process.
    package let id: String
    /// The name of its machine.
    package let host: String
    /// The version of the program.
    package let version: String

    /// How long a server counts as running after its last heartbeat.
    package static let lease = Duration.seconds(30)
    /// How old the last heartbeat of a server that can use the database may be.
    package static let longestSilence = Duration.seconds(15)
    /// The time between two heartbeats.
    package static let interval = Duration.seconds(10)

    /// What is wrong with a server that wrote its last heartbeat so long ago, as a sentence without
    /// a full stop; nil if nothing is.
    package static func fault(ofSilence silence: Duration) -> String? {
        silence <= longestSilence
            ? nil : "the last heartbeat was written \(silence.components.seconds) seconds ago"
    }

    /// Creates an instance.
    package init(id: String, host: String, version: String) {
        (self.id, self.host, self.version) = (id, host, version)
    }
}
