/// What each member of the configuration means: `siwa help settings`, siwa-config.json(5) and
/// docs/reference.md are generated from it.
package struct SettingEntry: Sendable {
    /// The member, with the objects that contain it: `vault.url`.
    package let member: String
    /// The flag with the same meaning; nil without one.
    package let flag: String?
    /// The variable with the same meaning; nil without one.
    package let variable: String?
    /// What it means, and what is true without it.
    package let meaning: String

    private init(_ member: String, _ meaning: String) {
        (self.member, self.meaning) = (member, meaning)
        (flag, variable) = (nil, nil)
    }

    private init(_ name: SettingName, _ meaning: String) {
        (member, self.meaning) = (name.member, meaning)
        flag = name.flag.isEmpty ? nil : name.flag
        variable = name.variable
    }
}

extension SettingEntry {
    /// The members of the file itself.
    package static let file = [
        SettingEntry("default_profile", "The profile in use without --profile and SIWA_PROFILE."),
        SettingEntry(
            "profiles",
            "The profiles, by name: each is an app or a website, with the members that follow."),
        SettingEntry(
            "strict",
            """
            true refuses secrets on the command line, key files that others can read, and a \
            configuration, a key or a vault that others can write, as --strict does; false unless \
            set.
            """),
        SettingEntry(
            "vault", "Where refresh tokens are stored, for all profiles, or in one of them."),
        SettingEntry("server", "The settings of siwa-server."),
    ]

    /// The members of a profile.
    package static let profile = [
        SettingEntry(.teamID, "The ten characters of the team."),
        SettingEntry(
            .clientID,
            "The App ID (the bundle id, without the Team ID) or the Services ID."),
        SettingEntry(
            .keyID, "The ten characters of the key; known from a file named AuthKey_<id>.p8."),
        SettingEntry(
            .privateKey,
            """
            The .p8 file, relative to the configuration; the text itself can be in \
            SIWA_PRIVATE_KEY. Unless set, AuthKey_<key_id>.p8 is looked for beside the \
            configuration, in $API_PRIVATE_KEYS_DIR, ~/.appstoreconnect/private_keys, \
            ~/.private_keys and ~/private_keys.
            """),
        SettingEntry(
            .clientSecret,
            """
            For a host without the key: a client_secret that another machine minted \
            ('siwa secret --lifetime 30d'), for exchange, refresh, revoke and their batches. The \
            variable and the flag hold the secret itself. Key and client_secret are one setting: \
            the higher source wins.
            """),
        SettingEntry(
            .secretLifetime, "How long a client_secret is valid that siwa mints; 5m unless set."),
        SettingEntry(.redirectURI, "The redirect URI, for codes from a web sign-in only."),
        SettingEntry(
            .audiences,
            "The client ids whose identity tokens and notifications are accepted; client_id unless set."
        ),
        SettingEntry(.baseURL, "An emulator in place of Apple."),
        SettingEntry(.caFile, "Authorities that are trusted besides the system's."),
        SettingEntry(
            .timeout, "The limit of a whole command, retries included; 30s unless set."),
        SettingEntry(.maxAttempts, "How often a request is sent at most; 4 unless set."),
    ]

    /// The members of `vault`.
    package static let vault = [
        SettingEntry(.vaultURL, "sqlite:PATH, relative to the configuration, or postgresql://…"),
        SettingEntry(
            .vaultKeyFile,
            """
            The file of the vault's keys; the keys themselves can be in SIWA_VAULT_KEY. Beside \
            sqlite:vault.db it is vault.key unless set.
            """),
    ]

    /// The members of `server`.
    package static let server = [
        SettingEntry("server.notifications", "The listener for Apple."),
        SettingEntry("server.api", "The listener for the application."),
        SettingEntry("server.metrics", "The listener for monitoring and people."),
        SettingEntry(
            "server.LISTENER.listen",
            """
            HOST:PORT with an IP address; unix:PATH, a socket of mode 0660; or systemd:NAME, the \
            socket with this FileDescriptorName.
            """),
        SettingEntry(
            "server.LISTENER.group",
            "The group of a Unix socket, which the user must be in; the user's unless set."),
        SettingEntry(
            "server.LISTENER.tls",
            """
            {"certificate": FILE, "key": FILE} in PEM, the certificate with its chain. Any address \
            but loopback and Unix sockets needs it, or behind_proxy.
            """),
        SettingEntry(
            "server.LISTENER.behind_proxy",
            """
            Whether a reverse proxy with TLS is in front: the log has the last address of \
            X-Forwarded-For. false unless set.
            """),
        SettingEntry(
            "server.notifications.path", "Where Apple posts; /apple/notifications unless set."),
        SettingEntry(
            "server.deliver.url",
            "Where events are posted; without it they are only kept, for GET /v1/events."),
        SettingEntry(
            "server.deliver.secret_file", "One or more lines whsec_…; each of them signs."),
        SettingEntry(
            "server.deliver.allow_http",
            "Whether http to another machine is allowed; false unless set."),
        SettingEntry(
            "server.deliver.max_in_flight",
            "The most deliveries that the application has not answered yet, 1 to 4096; 256 unless set."
        ),
        SettingEntry("server.deliver.ca_file", "Authorities to trust besides the system's."),
        SettingEntry(
            "server.deliver.revocations",
            """
            Whether ends of revocations that were answered 202, and tokens that server.validate \
            finds dead, are events; false unless set.
            """),
        SettingEntry(
            "server.validate",
            "Validates stored tokens of all profiles; absent: siwa-server does not."),
        SettingEntry(
            "server.validate.every",
            "The time between two checks of a user, 1m to 30d; 24h unless set."),
        SettingEntry(
            "server.validate.rate",
            "The most checks a second, of all servers on the vault together; 5/s unless set."),
        SettingEntry(
            "server.keep", "How long delivered and discarded events are kept; 30d unless set."),
        SettingEntry(
            "server.max_secret_lifetime",
            "The longest lifetime that a caller of /v1/secret may ask for; 1h unless set."),
        SettingEntry(
            "server.log_user_ids",
            "Whether user ids are logged; false logs fingerprints in their place. true unless set."
        ),
        SettingEntry(
            "server.state",
            """
            A folder for tokens that cannot be stored: $STATE_DIRECTORY unless set, else the \
            folder of an SQLite vault.
            """),
        SettingEntry(
            "server.jwks_file",
            "Apple's keys from a file, for tests: anyone who can write it can forge notifications."
        ),
    ]

    /// All members, under headings.
    package static let groups = [
        ("The file", file), ("A profile", profile), ("The vault", vault), ("siwa-server", server),
    ]
}
