internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAEmulatorServer
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa-emulator serve`: runs the emulator until it is stopped.
struct ServeEmulatorCommand: Command {
    static let name = "serve"
    static let abstract = "Answer as Apple does until SIGINT or SIGTERM, then exit with 0."
    static let discussion = """
        Prints "listening on URL" once it is ready. It listens on 127.0.0.1 only, unless --listen \
        says otherwise: every client that reaches it can sign in as any user.

        config.json has siwa connect with TLS; without --tls, give siwa the printed URL as \
        --base-url.
        """
    static let examples = [
        Example("siwa-emulator serve ~/apple --tls", "Serve the folder that init created."),
        Example(
            "siwa-emulator serve ~/apple --seed 1",
            "Generate the same codes, tokens and keys as the last time."),
        Example(
            "siwa-emulator serve ~/apple --port 0 --ready-file url",
            "Use any free port, and write the URL to a file."),
    ]
    static let parameters: [Parameter<Self>] = [
        .operand("DIR", \.$folder, help: "The folder that init created.", completion: .directory),
        .option(
            "port", \.port, value: "N",
            help: "The port, 0 for any free one; without it, the port of init."),
        .flag("tls", \.usesTLS, help: "Use TLS, with the folder's certificate."),
        .option("listen", \.address, value: "ADDRESS", help: "The IP address to listen on."),
        .option(
            "seed", \.seed, value: "N",
            help: "Generate the same codes, tokens, ids and keys at every start."),
        .option(
            "ready-file", \.readyFile, value: "PATH",
            help: "Write the URL to this file when the emulator is ready.", completion: .file),
    ]

    @Required var folder: String
    var port: PortNumber?
    var usesTLS = false
    var address = "127.0.0.1"
    var seed: Int?
    var readyFile: String?

    func run(in world: EmulatorWorld) async throws {
        try requireDispatch()
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await serve(in: world)
        }
    }

    private func serve(in world: EmulatorWorld) async throws {
        // A file from an earlier run would name a server that no longer exists.
        if let readyFile { try removeFile(readyFile) }
        let folder = Folder(path: folder)
        let (configuration, port) = try folder.emulator()
        let identity = try usesTLS ? identity(in: folder, world) : nil
        ProcessSignals.apply(.recordFirst, watchdog: 10)
        try await EmulatorServer.serving(
            try await AppleEmulator.seeded(
                seed.map(UInt64.init(truncatingIfNeeded:)), configuration: configuration,
                clock: { NumericDate(secondsSinceEpoch()) },
                posting: FolderTransport(folder: folder)),
            on: EmulatorServer.Address(host: address, port: self.port?.number ?? port),
            identity: identity
        ) { server in
            try announce(server, world)
            let wasNoted = note(server, in: folder, world)
            await world.stop.wait(after: 0)
            if let readyFile { try removeFile(readyFile) }
            if wasNoted { try removeFile(folder.path(Folder.server)) }
        }
    }

    private func identity(
        in folder: Folder, _ world: EmulatorWorld
    ) throws -> TLSIdentity {
        let files = TLSFiles(folder: folder)
        if try !files.isGood(now: secondsSinceEpoch()) {
            try files.renew(now: secondsSinceEpoch())
            world.warn("made a new certificate: clients must read ca.pem again")
        }
        return try files.identity()
    }

    /// Writes the URL to the folder, for `siwa-emulator log`; a read-only folder can still be
    /// served.
    private func note(
        _ server: EmulatorServer, in folder: Folder, _ world: EmulatorWorld
    ) -> Bool {
        if isTerminal(2) {
            world.note("watch it at \(server.url)\(AppleEmulator.consolePath)")
        }
        return (try? folder.write(Array((server.url + "\n").utf8), Folder.server)) != nil
    }

    private func announce(_ server: EmulatorServer, _ world: EmulatorWorld) throws(FileError) {
        if !server.isOnLoopback {
            world.warn(
                "listening on \(address): every client that reaches it can sign in as any user")
        }
        try world.print("listening on \(server.url)\n")
        guard let readyFile else { return }
        try writeFile(SecretBytes((server.url + "\n").utf8), to: readyFile, permissions: 0o644)
    }
}
