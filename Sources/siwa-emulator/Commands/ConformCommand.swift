internal import SIWACommandTable
internal import SIWAConformance
internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAEmulatorServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa-emulator conform`: sends a running backend what it must refuse.
struct ConformCommand: Command {
    static let name = "conform"
    static let abstract = "Check that a running backend refuses what it must refuse."
    static let discussion = """
        FILE describes how your backend signs people in; docs/conformance begins with one. \
        conform starts an emulator of its own, which your backend must use in place of Apple: let \
        appleid.apple.com, or the backend's setting for Apple's URL, lead to --port.

        Nothing bad is sent before a good sign-in has succeeded and the backend was seen to use \
        this emulator. Only loopback and private addresses are called.
        """
    static let examples = [
        Example("siwa-emulator conform backend.json --dir ~/apple --port 9500", "Run all checks."),
        Example(
            "siwa-emulator conform backend.json --dir ~/apple --only T,R01 --junit result.xml",
            "Run some checks, and write the results for a CI system."),
        Example("siwa-emulator conform --list", "List the checks."),
    ]
    static let parameters: [Parameter<Self>] = [
        .operand("FILE", \.file, help: "How the backend signs in; JSON.", completion: .file),
        .option(
            "dir", \.dir, value: "DIR",
            help: "The folder that init created, whose keys persist; made if it is missing.",
            completion: .directory),
        .option(
            "emulator", \.url, value: "URL",
            help: "Use the emulator that runs at this loopback URL, in place of --dir."),
        .option("port", \.port, value: "N", help: "The emulator's port, by default that of DIR."),
        .flag("tls", \.usesTLS, help: "Serve the emulator over TLS, with the certificate of DIR."),
        .option("listen", \.address, value: "ADDRESS", help: "The emulator's IP address."),
        .flag("dry-run", \.isDry, help: "Print the good request, with its templates, and end."),
        .flag(
            "no-proof", \.skipsProof,
            help: "Do not require that the backend asks the emulator; loopback only."),
        .option("only", \.only, value: "IDS", help: "Run these checks or groups: T,R01."),
        .option(
            "skip", \.skips, value: "ID=REASON", help: "Skip a check or a group, with a reason."),
        .option(
            "require", \.required, value: "IDS",
            help: "Exit with 3 if one of these checks or groups is skipped."),
        .option("fail-on", \.limit, value: "SEVERITY", help: "The mildest failure that counts."),
        .flag("exhaustive", \.isExhaustive, help: "Send every variant."),
        .option("budget", \.budget, value: "D", help: "When to stop beginning checks."),
        .option("timeout", \.timeout, value: "D", help: "How long an answer may take."),
        .flag("json", \.isJSON, help: "Print the results as JSON."),
        .option(
            "junit", \.junit, value: "FILE", help: "Write the results as JUnit's XML.",
            completion: .file),
        .flag("list", \.lists, help: "List the checks, and end."),
    ]

    var file: String?
    var dir = "siwa-emulator"
    var url: String?
    var port: PortNumber?
    var usesTLS = false
    var address = "127.0.0.1"
    var isDry = false
    var skipsProof = false
    var only: String?
    var skips: [String] = []
    var required: String?
    var limit = FailureLimit.high
    var isExhaustive = false
    var budget = ConformDuration(.seconds(360))
    var timeout = ConformDuration(.seconds(10))
    var isJSON = false
    var junit: String?
    var lists = false

    func run(in world: EmulatorWorld) async throws {
        if lists { return try world.print(Self.list) }
        guard let file else {
            throw Failure.usage(
                "FILE is missing", hints: ["see docs/conformance, or run conform --list"])
        }
        let described = try read(file)
        let options = try options(described)
        if isDry { return try world.print(DryRun(described).text) }
        try requireDispatch()
        if let url {
            let apple = RemoteApple(
                url: try emulatorURL(url),
                client: BackendClient(authorityFile: described.authorityFile))
            return try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await check(described, options, apple, world)
            }
        }
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await serve(described, options, world)
        }
    }

    private static var list: String {
        Catalogue.conform.map {
            let severity = $0.severity?.rawValue ?? ""
            return "\($0.id)  \($0.slug.padding(32))  \(severity.padding(8))  \($0.effect)\n"
        }.joined()
    }

    private func read(_ path: String) throws -> ConformFile {
        let bytes = try readFile(path, limit: 1 << 20).contents.revealed()
        do {
            return try ConformFile(json: JSON(bytes))
        } catch let error as JSONError {
            throw Failure.settings("'\(path)' \(error)", hints: ["fix the file"])
        } catch let error as ShapeError {
            var hints = ["fix the file; see docs/conformance"]
            if case .unknown(let name, let known) = error.fault {
                hints = didYouMean(suggestions(for: name, among: known)) + hints
            }
            throw Failure.settings("'\(path)': \(error)", hints: hints)
        }
    }

    private func options(_ file: ConformFile) throws -> RunOptions {
        var options = RunOptions()
        options.only = try Self.names(only)
        options.skipped = try skips.map { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw Failure.usage(
                    "--skip '\(text)' has no reason", hints: ["give one: --skip T45=REASON"])
            }
            return (try Self.names(parts[0]).first ?? "", parts[1])
        }
        (options.isExhaustive, options.needsProof) = (isExhaustive, !skipsProof)
        (options.budget, options.timeout) = (budget.duration, timeout.duration)
        guard !skipsProof || file.isOnLoopback else {
            throw Failure.usage(
                "--no-proof is for backends on loopback only",
                hints: ["let the backend fetch the emulator's keys, and leave --no-proof out"])
        }
        return options
    }

    /// The ids, slugs and groups of a list, which must exist.
    private static func names(_ text: String?) throws -> [String] {
        let known = Catalogue.conform.flatMap { [$0.id, $0.slug, $0.group] }
        return try (text ?? "").split(separator: ",").map { name in
            guard known.contains(String(name)) else {
                throw Failure.usage(
                    "'\(name)' is not a check",
                    hints: didYouMean(suggestions(for: String(name), among: known))
                        + ["list them: siwa-emulator conform --list"])
            }
            return String(name)
        }
    }
}

// The emulator of the run.
extension ConformCommand {
    /// The URL of a running emulator, which must be on this machine.
    private func emulatorURL(_ text: String) throws -> String {
        let usual = Self()
        guard port == nil, !usesTLS, address == usual.address, dir == usual.dir else {
            throw Failure.usage(
                "--emulator excludes --dir, --port, --tls and --listen",
                hints: ["leave them out: the emulator is running already"])
        }
        guard let url = try? BaseURL(validating: text), url.isLoopback else {
            throw Failure.usage(
                "--emulator '\(text)' is not the URL of a loopback address",
                hints: ["give the URL that serve prints, such as http://127.0.0.1:9443"])
        }
        return url.description
    }
}

// The run.
extension ConformCommand {
    private func serve(
        _ file: ConformFile, _ options: RunOptions, _ world: EmulatorWorld
    ) async throws {
        let folder = Folder(path: dir)
        if !fileExists(folder.path(Folder.emulator)) {
            try NewFolder(port: port?.number ?? 9443).write(to: folder, now: secondsSinceEpoch())
        }
        let (configuration, usual) = try folder.emulator()
        let identity = try usesTLS ? TLSFiles(folder: folder).identity() : nil
        let emulator = AppleEmulator(
            configuration: configuration.adding(file),
            // Keys that persist: a backend that caches them accepts the next run, too.
            keys: try EmulatorKeys.seeded(SeededSource(seed: try folder.keySeed())),
            clock: { NumericDate(secondsSinceEpoch()) })
        ProcessSignals.apply(.recordFirst, watchdog: 10)
        try await EmulatorServer.serving(
            emulator,
            on: EmulatorServer.Address(host: address, port: port?.number ?? usual),
            identity: identity
        ) { server in
            world.note("the emulator listens on \(server.url)")
            let key = try folder.developerKey()
            let apple = LocalApple(emulator, url: server.url) { client, now in
                guard let key else { throw NotPossible("DIR has no key for '\(client)'") }
                return try key.secret(of: client, now: now)
            }
            try await check(file, options, apple, world)
        }
    }

    private func check(
        _ file: ConformFile, _ options: RunOptions, _ apple: any Apple,
        _ world: EmulatorWorld
    ) async throws {
        let run = try ConformRun(
            file, options, apple: apple,
            transport: BackendClient(authorityFile: file.authorityFile),
            note: { world.note($0) }
        ) { result in
            if !isJSON { try world.print(result.line.withoutControls + "\n") }
        }
        do {
            try await run.run()
        } catch let error as ConformError {
            throw Failure(error)
        }
        let report = ConformReport(results: run.results, users: run.subjects)
        if isJSON {
            try world.print(report.json.indentedText + "\n")
        } else {
            let users = run.addresses.map { "users of this run: \($0)\n" } ?? ""
            try world.print(report.summary + users)
        }
        if let junit {
            try writeFile(SecretBytes(report.junit.utf8), to: junit, permissions: 0o644)
        }
        try conclude(report)
    }

    /// Ends with the exit code of the results.
    private func conclude(_ report: ConformReport) throws {
        if report.hasFailed(limit.severity) {
            throw Failure(
                code: "conform", message: "the backend did what it must refuse",
                hints: ["see docs/conformance for each check"], exitCode: .failed)
        }
        let named = try Self.names(required)
        for result in report.results where named.contains(where: result.check.isNamed) {
            guard !result.isMissing else {
                throw Failure.settings(
                    "\(result.check.id), which --require names, was skipped: \(result.detail)",
                    hints: [
                        result.detail.hasPrefix("the file")
                            ? "describe that part of the backend in FILE"
                            : "leave it out of --skip and --require, or name it in --only"
                    ])
            }
            guard result.result != .inconclusive else {
                throw Failure(
                    code: "temporary",
                    message: "\(result.check.id), which --require names, is inconclusive",
                    hints: ["\(result.detail): change what this names, then run it again"],
                    exitCode: .temporary)
            }
        }
        guard
            report.results.contains(where: { $0.result != .skipped && $0.result != .inconclusive })
        else {
            throw Failure.settings(
                "no check was run",
                hints: ["leave --only and --skip out, or give a longer --budget"])
        }
    }
}

/// A duration such as `90s` or `6m`.
struct ConformDuration: ParameterValue, Hashable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument), duration > .zero else { return nil }
        self.duration = duration
    }

    static var expectation: String { "a duration such as 90s or 6m" }
    var argumentDescription: String { duration.abbreviation }
}

/// The mildest severity that fails a run.
enum FailureLimit: String, ParameterValue, CaseIterable {
    case critical, high, medium

    var severity: SIWAConformance.Check.Severity {
        switch self {
        case .critical: .critical
        case .high: .high
        case .medium: .medium
        }
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension Failure {
    fileprivate init(_ error: ConformError) {
        self =
            switch error {
            case .goodSignIn(let flow, let outcome, let hints):
                .settings("the good sign-in (\(flow)) fails: \(outcome)", hints: hints)
            case .noProof:
                .settings(
                    "the backend neither fetched this emulator's keys nor exchanged a code with it",
                    hints: [
                        "let it use this emulator in place of appleid.apple.com, and restart it",
                        "if its keys are in a file: --no-proof",
                    ])
            case .whoami:
                .settings(
                    error.description,
                    hints: ["change 'whoami' in FILE: it must tell accounts apart"])
            case .gone:
                Failure(
                    code: "temporary", message: "the backend went away",
                    hints: ["look into its log, then run it again"], exitCode: .temporary)
            }
    }
}

extension EmulatorConfiguration {
    /// This configuration with the clients of a file.
    fileprivate func adding(_ file: ConformFile) -> Self {
        var clients = clients.filter { $0.clientID.rawValue != file.web?.clientID }
        if let web = file.web {
            clients.append(
                EmulatedClient(
                    clientID: ClientID(unchecked: web.clientID), kind: .web,
                    redirectURIs: [web.redirectURI]))
        }
        if let app = file.signIn?.clientID,
            !clients.contains(where: { $0.clientID.rawValue == app })
        {
            clients.append(EmulatedClient(clientID: ClientID(unchecked: app), kind: .app))
        }
        return Self(
            teamID: team.teamID, clients: clients, keys: team.keys, users: users,
            behaviors: behaviors, recipient: recipient)
    }
}

extension Folder {
    /// The file with the seed of the keys that conform publishes.
    private static let keys = "conform-keys"

    /// The key of the folder's first profile; nil if there is none.
    fileprivate func developerKey() throws -> DeveloperKey? {
        guard fileExists(path(Self.configuration)) else { return nil }
        let profile = try JSON(read(Self.configuration))["profiles"]?.members?.first?.value
        guard let profile, let name = profile["private_key"]?.string,
            let keyID = profile["key_id"]?.string, let teamID = profile["team_id"]?.string,
            fileExists(path(name))
        else { return nil }
        let text = try PrivateKeyText(SecretBytes(read(name)))
        return DeveloperKey(try text.privateKey(), id: keyID, of: teamID)
    }

    /// The seed of the folder's keys; made if it is missing.
    fileprivate func keySeed() throws -> UInt64 {
        if fileExists(path(Self.keys)) {
            let text = String(decoding: try read(Self.keys), as: UTF8.self)
            if let seed = UInt64(text.filter { !$0.isWhitespace }) { return seed }
        }
        let seed = try Random.bytes(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        try write(Array("\(seed)\n".utf8), Self.keys)
        return seed
    }
}
