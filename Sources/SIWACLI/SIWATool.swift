package import SIWAApplication
package import SIWACommandTable
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The table of commands: parser, help, manual pages and completions all read it.
package let siwaTool = Tool<World>(
    name: "siwa", version: version, released: "2026-11-24",
    abstract: "The Sign in with Apple token lifecycle on the command line.",
    discussion: """
        siwa mints client secrets, exchanges authorization codes, validates and revokes refresh \
        tokens, and explains why Apple refuses a request.

        Only results go to standard output; notes and errors go to standard error. Settings come \
        from flags, then from environment variables, then from a profile of the configuration file.
        """,
    commands: [
        InitCommand.self,
        StatusCommand.self,
        SecretCommand.self,
        ExchangeCommand.self,
        RefreshCommand.self,
        RevokeCommand.self,
        VerifyCommand.self,
        NotificationCommand.self,
        InspectCommand.self,
        DoctorCommand.self,
        KeysCommand.self,
        AuthorizeURLCommand.self,
        PublicKeyCommand.self,
        BatchRevokeCommand.self,
        BatchRefreshCommand.self,
        BatchVerifyCommand.self,
        MigrateExportCommand.self,
        MigrateImportCommand.self,
        MigratePlanCommand.self,
        VaultInitCommand.self,
        VaultListCommand.self,
        VaultShowCommand.self,
        VaultImportCommand.self,
        VaultExportCommand.self,
        VaultRemoveCommand.self,
        VaultHistoryCommand.self,
        VaultHistoryPruneCommand.self,
        VaultPruneCommand.self,
        VaultRemapCommand.self,
        VaultRekeyCommand.self,
        VaultCheckCommand.self,
        VaultCopyCommand.self,
        InboxListCommand.self,
        InboxShowCommand.self,
        InboxReplayCommand.self,
        InboxDiscardCommand.self,
        InboxForgetCommand.self,
        RevocationsListCommand.self,
        RevocationsRetryCommand.self,
        ConfigShowCommand.self,
        ConfigPathCommand.self,
        ConfigProfilesCommand.self,
        CompletionsCommand<World>.self,
        ManualCommand<World>.self,
    ],
    globals: GlobalOptions.all.map { $0.global().info },
    environment: [
        Definition("SIWA_CONFIG", "The configuration file."),
        Definition("SIWA_PROFILE", "The profile of the configuration file."),
        Definition(
            "SIWA_TEAM_ID, SIWA_CLIENT_ID, SIWA_KEY_ID", "The same as the flags of these names."),
        Definition("SIWA_PRIVATE_KEY_FILE", "The path of the .p8 private key."),
        Definition("SIWA_PRIVATE_KEY", "The text of the .p8 private key itself."),
        Definition("SIWA_CLIENT_SECRET", "A client_secret that another machine minted, not a key."),
        Definition("SIWA_SECRET_LIFETIME", "The same as --lifetime."),
        Definition("SIWA_REDIRECT_URI", "The same as --redirect-uri."),
        Definition(
            "SIWA_BASE_URL, SIWA_CA_FILE, SIWA_TIMEOUT", "The same as the flags of these names."),
        Definition("SIWA_VAULT_URL", "The vault: sqlite:PATH or postgresql://…"),
        Definition("SIWA_VAULT_KEY_FILE", "The path of the vault's keys."),
        Definition("SIWA_VAULT_KEY", "The vault's keys themselves."),
        Definition("API_PRIVATE_KEYS_DIR", "A folder to search for AuthKey_<id>.p8."),
        Definition(
            "XDG_CACHE_HOME", "The folder in which siwa/ caches Apple's key set (~/.cache)."),
        Definition("HTTPS_PROXY, NO_PROXY", "The proxy, and the hosts that do not use it."),
        Definition("SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE", "The system's authorities."),
    ],
    exitCodes: ExitCode.entries, topics: [.errors, .settings],
    others: ["siwa-server": ["serve", "check", "token", "webhook-secret"]])

/// Runs one command line, without the name of the program; returns the exit code.
///
/// - Parameter arguments: nil if they are not UTF-8.
package func runSIWA(_ arguments: [String]?, in world: World) async -> CInt {
    // Usage errors are JSON too if `--json` is given.
    let asksForJSON = arguments?.prefix { $0 != "--" }.contains("--json") ?? false
    return await runCommandLine(arguments, of: siwaTool, in: world, errorsAreJSON: asksForJSON) {
        var world = $0
        world.actor = VaultActor(command: $1, host: world.actor.host)
        return world
    }
}
