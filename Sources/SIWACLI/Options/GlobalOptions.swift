internal import SIWAApplication
package import SIWACommandTable

/// The options that every command has.
package struct GlobalOptions: OptionGroup {
    var config: String?
    var profile: String?
    var teamID: String?
    var clientID: String?
    var keyID: String?
    var key: KeyArgument?
    /// The signer in place of a key.
    var signer = SignerOptions()
    /// Only for commands that send requests with it.
    var clientSecret: SecretArgument?
    var baseURL: String?
    var caFile: String?
    var timeout: DurationArgument?
    var maxAttempts: Int?
    var isStrict = false
    var output = OutputOptions()

    package init() {}

    package static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.global().rerooted(at: path) }
    }

    /// The options of a command that accepts a client_secret in place of a key.
    static func requestParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        [
            Parameter<Self>.option(
                "client-secret", \.clientSecret, value: "SECRET",
                help: "A client_secret that another machine minted; replaces the key."
            ).rerooted(at: path)
        ] + parameters(at: path)
    }

    static let all: [Parameter<Self>] = identity + SignerOptions.parameters(at: \.signer) + common

    private static let identity: [Parameter<Self>] = [
        .option(
            "config", \.config, value: "FILE", help: "Read the configuration from FILE.",
            completion: .file),
        .option(
            "profile", \.profile, value: "NAME", help: "Use this profile of the configuration.",
            completion: .lines(of: "config profiles")),
        .option("team-id", \.teamID, value: "ID", help: "The ten characters of the Team ID."),
        .option("client-id", \.clientID, value: "ID", help: "The App ID or Services ID."),
        .option("key-id", \.keyID, value: "ID", help: "The ten characters of the Key ID."),
        .option(
            "key", \.key, value: "PATH", help: "The .p8 private key; - reads standard input.",
            completion: .file),
    ]

    private static let common: [Parameter<Self>] = [
        .option(
            "base-url", \.baseURL, value: "URL",
            help: "Send requests to an emulator in place of Apple."),
        .option(
            "ca-file", \.caFile, value: "FILE",
            help: "Trust these certificate authorities in addition to the system's.",
            completion: .file),
        .option(
            "timeout", \.timeout, value: "DURATION",
            help: "Stop after this time, retries included (30s unless set)."),
        .option(
            "max-attempts", \.maxAttempts, value: "N",
            help: """
                Send a request at most N times (4 unless set); in a batch, 429 and 503 count as \
                half an attempt.
                """),
        .flag(
            "strict", \.isStrict,
            help: "Refuse secrets on the command line, and files that others can read or write."),
        .flag("json", \.output.json, help: "Print results and errors as JSON."),
        .option(
            "print", \.output.print, value: "MEMBER", help: "Print only this member of the result."),
        .flag(
            "verbose", short: "v", \.output.isVerbose,
            help: "Show requests and responses on standard error."),
        .flag("quiet", short: "q", \.output.isQuiet, help: "Do not print notes and warnings."),
    ]
}

extension GlobalOptions {
    /// The profile that the flags select, and what they replace of it.
    func selection() throws(SettingsError) -> ProfileSelection {
        var selection = placed
        selection.signer = try signer.setting()
        return selection
    }

    /// The same without a signer, for finding files.
    var placed: ProfileSelection {
        var selection = ProfileSelection(file: config, name: profile)
        selection.isStrict = isStrict
        selection.overrides[.teamID] = teamID
        selection.overrides[.clientID] = clientID
        selection.overrides[.keyID] = keyID
        selection.overrides[.baseURL] = baseURL
        selection.overrides[.caFile] = caFile
        selection.overrides[.timeout] = timeout?.argumentDescription
        selection.key = key?.source
        (selection.clientSecret, selection.maxAttempts) = (clientSecret, maxAttempts)
        return selection
    }
}

extension Session {
    /// The session of a command: the profile that the flags select.
    ///
    /// - Parameter isShowing: the command only shows the settings, even malformed ones.
    init(
        _ global: GlobalOptions, lifetime: DurationArgument? = nil, redirectURI: String? = nil,
        audiences: [String] = [], vault: VaultArgument? = nil, isShowing: Bool = false,
        in world: World
    ) throws(SettingsError) {
        var selection = try global.selection()
        selection.overrides[.secretLifetime] = lifetime?.argumentDescription
        selection.overrides[.redirectURI] = redirectURI
        selection.overrides[.vaultURL] = vault?.url
        selection.audiences = audiences
        try self.init(selection, global.output, isShowing: isShowing, in: world)
    }
}
