public import CommandTable
internal import SignInWithApple

/// The table of commands: parser, help, manual pages and completions all read it.
public let siwaTool = Tool<World>(
    name: "siwa", version: version, released: "2026-11-21",
    abstract: "The Sign in with Apple token lifecycle on the command line.",
    discussion: """
        siwa mints client secrets, exchanges authorization codes, validates and revokes refresh \
        tokens, and says why when Apple says no.

        Results go to standard output and nothing else does; notes and errors go to standard \
        error. Settings come from flags, then the environment, then a profile of the \
        configuration file.
        """,
    commands: [
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
        ConfigShowCommand.self,
        ConfigPathCommand.self,
        CompletionsCommand.self,
        ManualCommand.self,
    ],
    globals: GlobalOptions.all.map { $0.global().info },
    environment: [
        Entry("SIWA_CONFIG", "The configuration file."),
        Entry("SIWA_PROFILE", "The profile of the configuration file."),
        Entry("SIWA_TEAM_ID, SIWA_CLIENT_ID, SIWA_KEY_ID", "As the flags of these names."),
        Entry("SIWA_PRIVATE_KEY_FILE", "The path of the .p8 private key."),
        Entry("SIWA_PRIVATE_KEY", "The text of the .p8 private key itself."),
        Entry("SIWA_CLIENT_SECRET", "A client_secret that another machine minted, not a key."),
        Entry("SIWA_SECRET_LIFETIME", "As --lifetime."),
        Entry("SIWA_REDIRECT_URI", "As --redirect-uri."),
        Entry("SIWA_BASE_URL, SIWA_CA_FILE, SIWA_TIMEOUT", "As the flags of these names."),
        Entry("SIWA_VAULT_URL", "The vault: sqlite:PATH or postgresql://…"),
        Entry("SIWA_VAULT_KEY_FILE", "The path of the vault's keys."),
        Entry("SIWA_VAULT_KEY", "The vault's keys themselves."),
        Entry("API_PRIVATE_KEYS_DIR", "A folder in which AuthKey_<id>.p8 is looked for."),
        Entry("XDG_CACHE_HOME", "Where siwa/ keeps Apple's key set (~/.cache)."),
        Entry("HTTPS_PROXY, NO_PROXY", "The proxy to use, and where not to use it."),
        Entry("SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE", "The system's authorities."),
    ],
    exitCodes: ExitCode.entries)
