internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa init`: writes a configuration.
struct InitCommand: Command {
    static let name = "init"
    static let abstract = "Write a configuration: ask for ids and key, create a vault, check it."
    static let discussion = """
        Asks for the Team ID, the private key that Apple's developer portal offers for download, \
        its Key ID and the client ids, unless flags give them. Without a terminal, --team-id, --key \
        and --client-id or --services-id are required, and --key-id unless the key is named \
        AuthKey_<Key ID>.p8.

        The configuration is written to --config, SIWA_CONFIG or ~/.config/siwa/config.json, and the \
        key is copied next to it; both are readable by their owner only. Nothing is overwritten \
        (exit 3). Then the vault is created, and the settings are checked as 'siwa doctor' does.
        """
    static let examples = [
        Example("siwa init", "Answer a few questions."),
        Example(
            "siwa init --team-id A1B2C3D4E5 --key AuthKey_K1L2M3N4P5.p8 --client-id com.example.app",
            "Write the configuration of an app."),
        Example(
            """
            siwa init --config /etc/siwa/config.json --team-id A1B2C3D4E5 --key - \
            --key-id K1L2M3N4P5 --client-id com.example.app --vault sqlite:/var/lib/siwa/vault.db
            """, "Set up a server from a script, with a vault."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "services-id", \.servicesID, value: "ID",
                help: "The Services ID of a website; its profile is named web."),
            .option(
                "redirect-uri", \.redirectURI, value: "URI",
                help: "Where Apple sends users back to that website."),
            VaultArgument.option(\.vault),
            .flag("no-vault", \.isWithoutVault, help: "Do not create a vault, and do not ask."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var servicesID: String?
    var redirectURI: String?
    var vault: VaultArgument?
    var isWithoutVault = false

    func run(in world: World) async throws {
        try checkCombination()
        let path = try configurationPath(in: world)
        let interview = InitInterview(self, folder: folder(of: path), in: world)
        let (key, settings) = try interview.settings()
        try checkSettings(settings, key, path, in: world)
        try write(settings, key, path, in: world)
        let vault = try settings.vaultURL.map { _ in try createVault(path, in: world) }
        let context = try DoctorContext(options(path), given: nil, in: world)
        let report = DoctorReport(
            offline: await context.offlineChecks(), online: [], isAccepted: false)
        let result = InitResult(
            path: path, key: key.target, settings: settings, vault: vault, report: report)
        try world.report(
            result.rendered(on: world.terminal, isFound: isFound(path, world)), global.output)
        if let failure = report.failure { throw failure }
    }

    private func checkCombination() throws(UsageError.Problem) {
        if isWithoutVault, vault != nil {
            throw .misuse("--vault and --no-vault exclude each other", hint: "omit one of them")
        }
        if redirectURI != nil, servicesID == nil {
            throw .misuse(
                "--redirect-uri needs --services-id", hint: "add --services-id ID")
        }
        if global.profile != nil {
            throw .misuse(
                "init takes no --profile",
                hint: "its profiles are named app (--client-id) and web (--services-id)")
        }
    }

    /// Where the configuration will be.
    ///
    /// - Throws: if a configuration exists there, or another one is in use.
    private func configurationPath(in world: World) throws -> String {
        let explicit = global.config ?? nonEmpty(world.variables("SIWA_CONFIG"))
        let found = ConfigurationPath(global.placed, in: world).path?.value
        if let taken = explicit ?? found, world.files.exists(taken) {
            throw SettingsError(
                "there is a configuration already: \(taken)",
                hints: [
                    "edit it, or write another one with --config FILE",
                    "'siwa config show' prints its settings",
                ])
        }
        if let explicit { return world.files.absolutePath(explicit) }
        guard let folder = UserFolders(world.variables).configuration else {
            throw SettingsError(
                "neither XDG_CONFIG_HOME nor HOME names a folder",
                hints: ["give the path of the configuration with --config FILE"])
        }
        return folder + "/siwa/config.json"
    }

    /// The options for the checks of the new configuration, which contains all settings.
    private func options(_ path: String) -> GlobalOptions {
        var options = GlobalOptions()
        options.config = path
        (options.output.json, options.output.isQuiet) = (global.output.json, global.output.isQuiet)
        options.isStrict = global.isStrict
        return options
    }

    private func isFound(_ path: String, _ world: World) -> Bool {
        ConfigurationPath(ProfileSelection(), in: world).path?.value == path
    }

    /// Checks the settings as other commands will read them, before anything is written.
    private func checkSettings(
        _ settings: InitialSettings, _ key: InitialKey, _ path: String, in world: World
    ) throws {
        var preview = world
        let configuration = settings.text
        preview.files.read = { name throws(FileError) in
            let written = name == path ? configuration : name == key.target ? key.text : nil
            guard let written else { return try world.files.read(name) }
            return LocalFile(contents: written, status: FileStatus(permissions: 0o600))
        }
        for profile in settings.profileNames {
            var options = options(path)
            (options.profile, options.output.isQuiet) = (profile, true)
            let session = try Session(options, in: preview)
            _ = try session.client()
            _ = try session.settings.baseURL()
            _ = try session.authorities()
            if settings.vaultURL != nil { _ = try session.settings.vaultURL() }
        }
    }

    /// Writes the configuration last, so that an interrupted run can be repeated.
    private func write(
        _ settings: InitialSettings, _ key: InitialKey, _ path: String, in world: World
    ) throws {
        try world.files.makeFolder(folder(of: path))
        try world.ending.completing {
            let isCopied = try key.write(in: world)
            do {
                try create(settings, path, in: world)
            } catch {
                // A configuration that was not written leaves no copy of the key behind.
                if isCopied { try? world.files.remove(key.target) }
                throw error
            }
        }
        if case .file(let original) = key.source, original != key.target {
            Console(world, global.output).note(
                "the key was copied to \(key.target); keep \(original) in a safe place")
        }
    }

    // Not inlined: an optimized build of Swift 6.3 fails where this typed error and an untyped one
    // leave the same closure.
    @inline(never)
    private func create(
        _ settings: InitialSettings, _ path: String, in world: World
    ) throws {
        do throws(FileError) {
            try world.files.create(settings.text, path)
        } catch {
            guard error.isTaken else { throw error }
            throw SettingsError(
                "something is at \(path) already, such as a link to a file that does not exist",
                hints: ["remove it, or write another configuration with --config FILE"])
        }
    }

    private func createVault(_ path: String, in world: World) throws -> VaultCreation {
        let session = try Session(options(path), in: world)
        do {
            return try VaultCreation(session)
        } catch let error as StoreError where error.kind == .alreadyInitialized {
            session.console.warn(
                "the vault exists already and is used as it is; check it with 'siwa vault check'")
            return try VaultCreation(existing: session)
        } catch {
            let diagnosis = Diagnosis(error)
            throw Diagnosis(
                recorded: diagnosis.code, "the configuration is written, but " + diagnosis.message,
                hints: diagnosis.hints + ["then run 'siwa vault init --config \(path)'"],
                exitCode: diagnosis.exitCode)
        }
    }
}
