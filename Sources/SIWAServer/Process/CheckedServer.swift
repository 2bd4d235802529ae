internal import HTTPServer
internal import Lifecycle
internal import SIWACLI

/// The checks of `siwa-server check`: everything that `serve` reads and opens, except that nothing
/// is changed, locked or listened to.
struct CheckedServer {
    /// The profiles, the database and the listeners, one line each.
    let summary: String

    /// Why the server would be useless; nil otherwise.
    let warnings: [String]

    /// - Throws: ``Diagnosis``, as `serve` would.
    init(_ configurationFile: String?, in world: ServerWorld) async throws(Diagnosis) {
        let base = world.base
        let inputs = try ServerInputs(configurationFile, in: world)
        let settings = inputs.settings
        for listener in RouteTable.Listener.allCases {
            try await settings.listener(listener)?.check(in: base, of: listener)
        }
        warnings = inputs.warnings + [inputs.keySetWarning].compactMap(\.self)
        let pending = try OpenDatabase.pendingChanges(inputs.configuration)
        guard base.files.exists(inputs.stateFolder) else {
            throw Diagnosis(
                "configuration", "server.state: '\(inputs.stateFolder)' does not exist",
                hints: ["create the folder"], exitCode: .settings)
        }
        let profiles = inputs.clients.all.map { $0.name.isEmpty ? $0.clientID.rawValue : $0.name }
        let listeners = RouteTable.Listener.allCases.filter { settings.listener($0) != nil }
        summary = """
            profiles: \(profiles.joined(separator: ", "))
            vault: \(pending.isEmpty ? "ok" : pending.joined(separator: "; "))
            listeners: \(listeners.map(\.rawValue).joined(separator: ", "))

            """
    }
}
