internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWALifecycle

/// The checks of `siwa-server check`: everything that `serve` reads and opens, except that nothing
/// is changed, locked or listened to.
struct CheckedServer {
    /// The profiles, the database, the listeners and the clock, one line each.
    let summary: String

    /// What is wrong, although the server would start.
    let warnings: [String]

    /// - Throws: ``Diagnosis``, as `serve` would.
    init(_ configurationFile: String?, in world: ServerWorld) async throws(Diagnosis) {
        let base = world.base
        let inputs = try ServerInputs(configurationFile, in: world) { _ in }
        let settings = inputs.settings
        for listener in RouteTable.Listener.allCases {
            try await settings.listener(listener)?.check(in: base, of: listener)
        }
        let pending = try OpenDatabase.pendingChanges(inputs.configuration, in: base)
        let spaceWarning = try OpenDatabase.spaceWarning(inputs.configuration, in: base)
        try UnsavedTokenFile.check(in: inputs.stateFolder, base)
        let clock = inputs.clock
        if inputs.fixedKeys == nil { await clock.ask(as: inputs.clients.asking) }
        let signerWarnings = try await inputs.clients.askSigners(base.clocks)
        warnings =
            inputs.warnings + signerWarnings
            + [spaceWarning, inputs.keySetWarning, clock.warning].compactMap(\.self)
        let profiles = inputs.clients.all.map { $0.name.isEmpty ? $0.clientID.rawValue : $0.name }
        let listeners = RouteTable.Listener.allCases.filter { settings.listener($0) != nil }
        summary = """
            profiles: \(profiles.joined(separator: ", "))
            vault: \(pending.isEmpty ? "ok" : pending.joined(separator: "; "))
            listeners: \(listeners.map(\.rawValue).joined(separator: ", "))
            clock: \(clock.words)

            """
    }
}
