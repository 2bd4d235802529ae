internal import HTTPServer
internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// The checks of `siwa-server check`: everything that `serve` needs, except listeners and tables.
struct CheckedServer {
    /// The profiles, the database, the listeners and the clock, one line each.
    let summary: String

    /// What is wrong, although the server would start.
    let warnings: [String]

    /// - Throws: ``Diagnosis``.
    init(_ configurationFile: String?, in world: ServerWorld) async throws(Diagnosis) {
        let base = world.base
        let configuration = try ServedConfiguration(configurationFile, in: base)
        let settings = try ServerSettings(configuration, variables: base.variables)
        let clock = AppleClock(base.clocks) { _ in }
        let clients = try LoadedServer.clients(configuration, Metrics(), clock, base)
        if let delivery = settings.delivery { _ = try LoadedDelivery(delivery, in: world) }
        for listener in RouteTable.Listener.allCases {
            try await settings.listener(listener)?.check(in: base, of: listener)
        }
        let store = try configuration.serverStore(.eachStatement(.seconds(5)))
        do {
            _ = try Vault(store.vault, try configuration.vaultKeys(), by: base.actor)
        } catch {
            throw Diagnosis(error)
        }
        if settings.keySetFile == nil { await clock.ask(as: clients.asking) }
        warnings = [settings.withoutListeners, clock.warning].compactMap(\.self)
        let profiles = clients.all.map { $0.name.isEmpty ? $0.clientID.rawValue : $0.name }
        let listeners = RouteTable.Listener.allCases.filter { settings.listener($0) != nil }
        summary = """
            profiles: \(profiles.joined(separator: ", "))
            vault: ok
            listeners: \(listeners.map(\.rawValue).joined(separator: ", "))
            clock: \(clock.words)

            """
    }
}
