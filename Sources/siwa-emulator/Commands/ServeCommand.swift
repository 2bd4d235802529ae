internal import AppleEmulator
internal import CommandTable
internal import EmulatorServer
internal import HTTPServer
internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// `siwa-emulator serve`: runs the emulator until it is stopped.
struct ServeCommand: Command {
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
            "ready-file", \.readyFile, value: "PATH",
            help: "Write the URL to this file when the emulator is ready.", completion: .file),
    ]

    @Required var folder: String
    var port: PortNumber?
    var usesTLS = false
    var address = "127.0.0.1"
    var readyFile: String?

    func run(in console: Console) async throws {
        try requireDispatch()
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await serve(in: console)
        }
    }

    private func serve(in console: Console) async throws {
        // A file from an earlier run would name a server that no longer exists.
        if let readyFile { try removeFile(readyFile) }
        let folder = Folder(path: folder)
        let (configuration, port) = try folder.emulator()
        let identity = try usesTLS ? identity(in: folder, console) : nil
        ProcessSignals.apply(.recordFirst, watchdog: 10)
        try await EmulatorServer.serving(
            AppleEmulator(
                configuration: configuration, keys: try await EmulatorKeys.generate(),
                clock: { NumericDate(secondsSinceEpoch()) }, posting: Network(folder: folder)),
            on: EmulatorServer.Address(host: address, port: self.port?.number ?? port),
            identity: identity
        ) { server in
            try announce(server, console)
            let wasNoted = note(server, in: folder, console)
            await console.stop.wait(after: 0)
            if wasNoted { try removeFile(folder.path(Folder.server)) }
            if let readyFile { try removeFile(readyFile) }
        }
    }

    private func identity(
        in folder: Folder, _ console: Console
    ) throws -> TLSIdentity {
        let files = TLSFiles(folder: folder)
        if try !files.isGood(now: secondsSinceEpoch()) {
            try files.renew(now: secondsSinceEpoch())
            console.warn("made a new certificate: clients must read ca.pem again")
        } else if try !files.isConstrained() {
            console.warn(
                """
                a client that trusts \(folder.path(TLSFiles.authority)) trusts it for every name; \
                to replace it, remove that file, restart, and give clients the new one
                """)
        }
        return try files.identity()
    }

    /// Writes the URL to the folder, for `siwa-emulator log`; a read-only folder can still be
    /// served.
    private func note(
        _ server: EmulatorServer, in folder: Folder, _ console: Console
    ) -> Bool {
        if isTerminal(2) {
            console.note("watch it at \(server.url)\(AppleEmulator.consolePath)")
        }
        return (try? folder.write(Array((server.url + "\n").utf8), Folder.server)) != nil
    }

    private func announce(_ server: EmulatorServer, _ console: Console) throws(FileError) {
        if !server.isOnLoopback {
            console.warn(
                "listening on \(address): every client that reaches it can sign in as any user")
        }
        try console.print("listening on \(server.url)\n")
        guard let readyFile else { return }
        try writeFile(SecretBytes((server.url + "\n").utf8), to: readyFile, permissions: 0o644)
    }
}
