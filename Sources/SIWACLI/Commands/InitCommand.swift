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

        The settings are checked as 'siwa doctor' does before anything is written. Then the \
        configuration is written to --config, SIWA_CONFIG or ~/.config/siwa/config.json, the key is \
        copied next to it, both readable by their owner only, and the vault is created.

        An existing configuration is not overwritten (exit 3): what would change is shown, and \
        --replace changes it. Other settings and profiles stay. A key file with another key is never \
        overwritten.

        --for-server is for root, on a machine with the packages: it writes /etc/siwa/config.json \
        with siwa-server's listeners, and the link to the key that the units name. The vault is \
        then created by the service: 'siwa-admin vault init'. It is /var/lib/siwa/vault.db, or in \
        PostgreSQL with --vault postgresql:///siwa, where the service has the role of its user's \
        name and needs no password.
        """
    static let examples = [
        Example("siwa init", "Answer a few questions."),
        Example(
            "siwa init --team-id A1B2C3D4E5 --key AuthKey_K1L2M3N4P5.p8 --client-id com.example.app",
            "Write the configuration of an app."),
        Example(
            """
            siwa init --for-server --team-id A1B2C3D4E5 --key AuthKey_K1L2M3N4P5.p8 \
            --client-id com.example.app
            """, "Set up siwa-server from a script, as root."),
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
            .flag(
                "for-server", \.isForServer,
                help: "Write the configuration of siwa-server as the packages run it."),
            .flag(
                "replace", \.isReplacing, help: "Change an existing configuration."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var servicesID: String?
    var redirectURI: String?
    var vault: VaultArgument?
    var isWithoutVault = false
    var isForServer = false
    var isReplacing = false

    func run(in world: World) async throws {
        try checkCombination(in: world)
        let path = try configurationPath(in: world)
        let interview = InitInterview(self, folder: folder(of: path), in: world)
        let (key, settings) = try interview.settings()
        let old =
            world.files.exists(path)
            ? try ReplacedConfiguration(path, changedTo: settings, in: world) : nil
        let plan = InitPlan(
            path: path, key: key, settings: settings, old: old, isForServer: isForServer)
        try await check(plan, in: world)
        try allowReplacement(old, in: world)
        try plan.write(in: world, Console(world, global.output))
        let vault =
            isForServer ? nil : try settings.vaultURL.map { _ in try createVault(path, in: world) }
        // A changed configuration may have another default profile.
        var options = options(path)
        if old != nil { options.profile = settings.profileNames.first }
        let context = try DoctorContext(options, given: nil, in: world)
        let report = DoctorReport(
            offline: await context.offlineChecks(), online: [], answer: .notAsked)
        let result = InitResult(plan: plan, vault: vault, report: report)
        try world.report(
            result.rendered(on: world.terminal, isFound: isFound(path, world)), global.output)
        if let failure = report.failure { throw failure }
    }

    private func checkCombination(in world: World) throws(UsageError.Problem) {
        if isWithoutVault, vault != nil || isForServer {
            let other = vault != nil ? "--vault" : "--for-server"
            throw .misuse("\(other) and --no-vault exclude each other", hint: "omit one of them")
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
        if isForServer, global.config == nil, !world.isRoot {
            throw .misuse(
                "--for-server writes \(ServiceFiles.configuration), which only root can",
                hint: "run it with sudo, or give --config FILE")
        }
    }

    /// Where the configuration will be.
    ///
    /// - Throws: if a configuration exists there, or another one is in use, unless the flags say how
    ///   to change it.
    private func configurationPath(in world: World) throws -> String {
        let named = global.config ?? nonEmpty(world.variables("SIWA_CONFIG"))
        let explicit = named ?? (isForServer ? ServiceFiles.configuration : nil)
        let found = ConfigurationPath(global.placed, in: world).path?.value
        if let taken = explicit ?? found, world.files.exists(taken) {
            guard isReplacing || isComplete else { throw Self.taken(taken, differences: []) }
            return world.files.absolutePath(taken)
        }
        if let explicit { return world.files.absolutePath(explicit) }
        guard let folder = UserFolders(world.variables).configuration else {
            throw SettingsError(
                "neither XDG_CONFIG_HOME nor HOME names a folder",
                hints: ["give the path of the configuration with --config FILE"])
        }
        return folder + "/siwa/config.json"
    }

    /// Whether the flags give everything that init requires.
    private var isComplete: Bool {
        global.teamID != nil && (global.key != nil || global.signer.signer != nil)
            && (global.clientID != nil || servicesID != nil)
    }

    private static func taken(_ path: String, differences: [String]) -> SettingsError {
        SettingsError(
            "there is a configuration already: \(path)",
            hints: differences.map { "it would change: \($0)" } + [
                differences.isEmpty
                    ? "edit it, change it with --replace, or write another one with --config FILE"
                    : "to change it, run the same command with --replace",
                "'siwa config show' prints its settings",
            ])
    }

    /// Shows what would change of an existing configuration, and asks for it unless `--replace` was
    /// given.
    private func allowReplacement(_ old: ReplacedConfiguration?, in world: World) throws {
        guard let old else { return }
        guard !isReplacing else {
            let console = Console(world, global.output)
            for difference in old.differences { console.note("changed: \(difference)") }
            return
        }
        let error = Self.taken(old.path, differences: old.differences)
        guard !old.differences.isEmpty, let ask = world.ask else { throw error }
        for difference in old.differences { world.errorLine("  \(difference)") }
        let answer = try ask("Change this in \(old.path)? [y/N]: ").trimmingSpace.lowercased()
        guard ["y", "yes"].contains(answer) else { throw error }
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

    /// Checks the settings as other commands will read them, and as `siwa doctor` does, before
    /// anything is written.
    private func check(_ plan: InitPlan, in world: World) async throws {
        let preview = plan.preview(of: world)
        for profile in plan.settings.profileNames {
            var options = options(plan.path)
            (options.profile, options.output.isQuiet) = (profile, true)
            let session = try Session(options, in: preview)
            _ = try session.client()
            _ = try session.settings.baseURL()
            _ = try session.authorities()
            if plan.settings.vaultURL != nil { _ = try session.settings.vaultURL() }
            let context = try DoctorContext(options, given: nil, in: preview)
            let report = DoctorReport(
                offline: await context.offlineChecks(), online: [], answer: .notAsked)
            guard let failure = report.failure else { continue }
            throw Diagnosis.negative(
                .checksFailed, "nothing was written: \(failure.message)", hints: failure.hints)
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
