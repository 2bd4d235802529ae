import SIWACommandTable

/// The environment of the sample commands, which is empty.
struct SampleWorld {}

enum KeyFormat: String, CaseIterable, ParameterValue {
    case pem
    case jwk
    case derBase64 = "der-base64"
}

/// Options that several commands share, two of them accepted before the command.
struct SharedOptions {
    var profile: String?
    var attempts = 4
    var isQuiet = false
    var isVerbose = false

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        let own: [Parameter<Self>] = [
            .option(
                "profile", short: "p", \.profile, value: "NAME",
                help: "Which profile of the configuration to use.",
                completion: .lines(of: "config profiles")),
            .option("max-attempts", \.attempts, value: "N", help: "How often to try."),
            .flag("quiet", short: "q", \.isQuiet, help: "Print only the result."),
            .flag("verbose", short: "v", \.isVerbose, help: "Trace requests."),
        ]
        return own.map { $0.global().rerooted(at: path) }
    }
}

struct Revoke: Command {
    static let name = "revoke"
    static let abstract = "Revoke a refresh token or an access token."
    static let discussion = """
        Apple answers 200 to anything, so a plain answer proves little. What it can say:

          revoked    the request was accepted
          confirmed  the token is refused from now on

        A line that starts with a dot is next.
        .profile is where 'quotes' and a \\ backslash go.
        """
    static let examples = [
        Example("siwa revoke --token @env:TOKEN", "Revoke the token in a variable."),
        Example("pass show token | siwa revoke --token - -v", "Revoke one from a pipe."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option("token", short: "t", \.$token, value: "TOKEN", help: "The token to revoke."),
            .option("code", \.code, value: "CODE", help: "A code to exchange first."),
            .option(
                "out", short: "o", \.output, value: "FILE", help: "Where the report goes.",
                completion: .file),
            .option("audience", \.audiences, value: "ID", help: "A client that may be meant."),
            .flag("confirm", \.confirms, help: "Check afterwards, which needs a refresh token."),
        ] + SharedOptions.parameters(at: \.shared)

    var shared = SharedOptions()
    @Required var token: SecretArgument
    var code: SecretArgument?
    var output: String?
    var audiences = ["com.example.app", "com.example.web"]
    var confirms = false

    func run(in world: SampleWorld) async throws {}
}

struct PublicKey: Command {
    static let name = "public-key"
    static let abstract = "Print the public half of the key."
    static let parameters: [Parameter<Self>] =
        [
            .operand("SOURCE", \.$source, help: "The key.", completion: .file),
            .operand("LABEL", \.label, help: "What to call it."),
            .operand("NOTE", \.notes, help: "Anything else worth keeping with the key."),
            .option(
                "format", short: "f", \.format, value: "FORMAT", help: "How to print it."),
        ] + SharedOptions.parameters(at: \.shared)

    var shared = SharedOptions()
    @Required var source: String
    var label: String?
    var notes: [String] = []
    var format = KeyFormat.pem

    func run(in world: SampleWorld) async throws {}
}

struct ConfigShow: Command {
    static let name = "config show"
    static let abstract = "Print every setting and where it came from."
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "folder", \.folder, value: "DIR", help: "Where to look.", completion: .directory)
        ] + SharedOptions.parameters(at: \.shared)

    var shared = SharedOptions()
    var folder = "."

    func run(in world: SampleWorld) async throws {}
}

struct ConfigPath: Command {
    static let name = "config path"
    static let abstract = "Print which configuration file is in use."
    static let parameters: [Parameter<Self>] = []

    func run(in world: SampleWorld) async throws {}
}

struct Completions: Command {
    static let name = "completions"
    static let abstract = "Print the completions of a shell."
    static let parameters: [Parameter<Self>] = [
        .operand("SHELL", \.$shell, help: "Which shell.")
    ]

    @Required var shell: Shell

    func run(in world: SampleWorld) async throws {}
}

struct Manual: Command {
    static let name = "manual"
    static let abstract = "Print a manual page."
    static let parameters: [Parameter<Self>] = [
        .operand("COMMAND", \.command, help: "Of which command.", completion: .command)
    ]

    var command: [String] = []

    func run(in world: SampleWorld) async throws {}
}

let sampleTool = Tool<SampleWorld>(
    name: "siwa", version: "1.2.3", released: "2025-01-31",
    abstract: "Mint, exchange, revoke and verify.",
    discussion: "Configuration is read from one file.",
    commands: [
        Revoke.self, PublicKey.self, ConfigShow.self, ConfigPath.self, Completions.self,
        Manual.self,
    ],
    globals: SharedOptions.parameters(at: \SharedOptions.self).map(\.info),
    environment: [Definition("SIWA_PROFILE", "The same as --profile.")],
    exitCodes: [Definition("0", "Done."), Definition("2", "The command line cannot be obeyed.")])
