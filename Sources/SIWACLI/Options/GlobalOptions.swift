internal import CommandTable

/// The options every command takes, as they were typed.
struct GlobalOptions: Sendable {
    var config: String?
    var profile: String?
    var teamID: String?
    var clientID: String?
    var keyID: String?
    var key: KeyArgument?
    /// Only of commands that send requests with it.
    var clientSecret: SecretArgument?
    var baseURL: String?
    var caFile: String?
    var timeout: DurationText?
    var maxAttempts: Int?
    var isStrict = false
    var json = false
    var print: String?
    var isVerbose = false
    var isQuiet = false

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.global().rerooted(at: path) }
    }

    /// The options of a command that can do without a key.
    static func requestParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        [
            Parameter<Self>.option(
                "client-secret", \.clientSecret, value: "SECRET",
                help: "A client_secret that another machine minted, in place of a key."
            ).rerooted(at: path)
        ] + parameters(at: path)
    }

    static let all: [Parameter<Self>] = [
        .option(
            "config", \.config, value: "FILE", help: "Read the configuration from FILE.",
            completion: .file),
        .option(
            "profile", \.profile, value: "NAME", help: "Use this profile of the configuration."),
        .option("team-id", \.teamID, value: "ID", help: "The ten characters of the Team ID."),
        .option("client-id", \.clientID, value: "ID", help: "The App ID or Services ID."),
        .option("key-id", \.keyID, value: "ID", help: "The ten characters of the Key ID."),
        .option(
            "key", \.key, value: "PATH", help: "The .p8 private key; - reads standard input.",
            completion: .file),
        .option(
            "base-url", \.baseURL, value: "URL", help: "Speak to an emulator in place of Apple."),
        .option(
            "ca-file", \.caFile, value: "FILE",
            help: "Trust these authorities besides the system's.", completion: .file),
        .option(
            "timeout", \.timeout, value: "DURATION",
            help: "Give up after this long, retries included (30s unless set)."),
        .option(
            "max-attempts", \.maxAttempts, value: "N",
            help: """
                Send a request at most N times (4 unless set); in a batch, a 429 or 503 counts \
                as half a time.
                """),
        .flag(
            "strict", \.isStrict,
            help: "Refuse secrets on the command line, and files that others can write or read."),
        .flag("json", \.json, help: "Print results and errors as JSON."),
        .option("print", \.print, value: "MEMBER", help: "Print one member of the result, raw."),
        .flag("verbose", short: "v", \.isVerbose, help: "Trace requests on standard error."),
        .flag("quiet", short: "q", \.isQuiet, help: "Print no notes."),
    ]
}
