internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa-server serve`: serves until it is stopped.
struct ServeCommand: Command {
    static let name = "serve"
    static let abstract = "Serve until SIGTERM or SIGINT, then exit with 0."
    static let discussion = """
        Runs in the foreground and logs JSON lines to standard error. With a \
        configuration that has only profiles and a vault, it listens on this machine: for Apple on \
        127.0.0.1:8765, for monitoring on 127.0.0.1:9765, and for the application on the Unix \
        socket api.sock in $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR/siwa.

        SIGHUP reads profiles, keys, certificates and secrets again. SIGTERM ends what is in \
        flight first: that takes up to 10 seconds, or until Apple has answered every code that was \
        sent. A token that the database does not take is saved, sealed with the vault's key, in \
        the folder of server.state; the next start stores it.
        """
    static let examples = [
        Example("siwa-server serve --config /etc/siwa/config.json", "Serve, as a unit does.")
    ]
    static let parameters = ConfigurationOption.parameters(at: \Self.configuration)

    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        // The watchdog ends a process that hangs during its shutdown.
        ProcessSignals.apply(.record, watchdog: 44)
        ProcessSignals.reportEndsAsJSON()
        ProcessSignals.countHangUps()
        try requireDispatch()
        let world = world.loggingNotes()
        let loaded = try LoadedServer(configuration.file, in: world)
        let isSaved: Bool
        do {
            // The signers' own failures are in the log already.
            _ = try await loaded.context.clients.current.askSigners(world.base.clocks)
            isSaved = try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await RunningServer(loaded, in: world).run()
            }
        } catch {
            // Its row would say for half a minute that a server runs.
            await loaded.context.heartbeat.end()
            throw error
        }
        guard isSaved else { throw ReportedEnd(exitCode: .temporary) }
    }
}

extension ServerWorld {
    /// Writes messages that `siwa` prints on standard error to the log.
    fileprivate func loggingNotes() -> ServerWorld {
        var world = self
        let log = ServerLog(
            now: base.clocks.now, words: base.words, write: base.errorLine)
        world.base.note = { log(.warning, "configuration", [.init("message", .string($0))]) }
        return world
    }
}
