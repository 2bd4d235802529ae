internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

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
        let listeners = RouteTable.Listener.allCases.compactMap { listener in
            settings.listener(listener).map { (name: listener, settings: $0) }
        }
        var listenerWarnings: [String?] = []
        for (name, own) in listeners {
            listenerWarnings.append(try await own.check(in: base, of: name))
        }
        let pending = try OpenDatabase.pendingChanges(inputs.configuration, in: base)
        let spaceWarning = try OpenDatabase.spaceWarning(inputs.configuration, in: base)
        let running = OpenDatabase.running(inputs.configuration, in: base)
        let addresses = running?.flatMap(\.listeners)
        // Only a server that writes meets a full disk of PostgreSQL, and only it has its sockets.
        let faults = await RunningReadiness.faults(of: settings.listener(.metrics), in: world)
        var runningWarnings = faults.map { fault in
            let isSavable = fault.mentions("while it was open")
            return "the running siwa-server is not ready: \(fault)"
                + (isSavable
                    ? "; do not stop it before the file is saved, as runbooks/backup-and-restore says"
                    : "")
        }
        for facts in running ?? [] {
            runningWarnings += facts.listenerFaults.map { "the running siwa-server: \($0)" }
            guard faults.isEmpty, let fault = facts.databaseFault else { continue }
            runningWarnings.append("the running siwa-server cannot use the database: \(fault)")
        }
        for (name, own) in listeners {
            listenerWarnings.append(try own.use(in: base, of: name, besides: addresses))
        }
        try UnsavedTokenFile.check(in: inputs.stateFolder, base)
        let keyWarning = UnsavedTokenFile.missingKeys(
            in: inputs.stateFolder, try inputs.configuration.quiet.vaultKeys(), base)
        let clock = inputs.clock
        if inputs.fixedKeys == nil { await clock.ask(as: inputs.clients.asking) }
        let signerWarnings = try await inputs.clients.askSigners(base.clocks)
        warnings =
            inputs.warnings + runningWarnings + signerWarnings
            + listenerWarnings.compactMap(\.self)
            + inputs.clients.expiries(at: base.clocks.now())
            .compactMap { $0.fault(at: base.clocks.now()) }
            + [spaceWarning, keyWarning, inputs.keySetWarning, clock.warning].compactMap(\.self)
        let profiles = inputs.clients.all.map { $0.name.isEmpty ? $0.clientID.rawValue : $0.name }
        let names = listeners.map { $0.name.rawValue + $0.settings.untried }
        summary = """
            profiles: \(profiles.joined(separator: ", "))
            vault: \(pending.isEmpty ? "ok" : pending.joined(separator: "; "))
            listeners: \(names.joined(separator: ", "))
            clock: \(clock.words)

            """
    }
}

extension ListenerSettings {
    /// That only a start finds out whether the service manager has the socket.
    fileprivate var untried: String {
        guard case .inherited(let name) = address else { return "" }
        return " (not tried: the .socket unit of systemd:\(name) has to be active)"
    }
}
