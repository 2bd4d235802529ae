internal import SIWAApplication
import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The table of commands, which parser, help, manual pages and completions read.
let serverTool = Tool<ServerWorld>(
    name: "siwa-server", version: version, released: "2026-11-24",
    abstract: "The server of siwa: notifications, tokens and revocations over HTTP.",
    discussion: """
        siwa-server runs beside an application. It receives Apple's notifications and loses none, \
        exchanges codes and stores the tokens, revokes them with proof even when Apple is down, and \
        hands out client secrets.

        Profiles, keys and the vault are those of siwa; the object "server" of the configuration \
        says where siwa-server listens and where it delivers events.
        """,
    commands: [
        ServeCommand.self, CheckCommand.self, TokenAddCommand.self, TokenListCommand.self,
        TokenRemoveCommand.self, WebhookSecretCommand.self, CompletionsCommand<ServerWorld>.self,
        ManualCommand<ServerWorld>.self,
    ],
    globals: [], exitCodes: serverExitCodes)

/// The exit codes of siwa-server, for help.
let serverExitCodes = [
    ExitCode.done.entry("Success; also a server that SIGTERM or SIGINT stopped."),
    ExitCode.no.entry("A token with this name does not exist, or exists already."),
    ExitCode.usage.entry(),
    ExitCode.settings.entry("The configuration, a key, the vault or a listener cannot be used."),
    ExitCode.defect.entry(),
    ExitCode.notDelivered.entry(),
    ExitCode.temporary.entry(
        "Temporary: the database does not answer, or is a standby; after serve, a token is lost."),
]

/// Runs one command line, without the program's name; returns the exit code.
///
/// - Parameter arguments: nil if they are not UTF-8.
package func runServer(_ arguments: [String]?, in world: ServerWorld) async -> CInt {
    await runCommandLine(arguments, of: serverTool, in: world.base) { base, _ in
        var world = world
        world.base = base
        return world
    }
}

extension ServerWorld: ToolWorld {
    static var tool: Tool<Self> { serverTool }

    func print(_ document: ToolDocument, _ options: NoOptions) throws {
        try print(document.text)
    }

    func write(
        _ documents: [ToolDocument], into folder: String, _ options: NoOptions
    ) throws {
        let paths = try base.files.write(documents, into: folder)
        try print(paths.map { "\($0)\n" }.joined())
    }

    /// Prints the text of a command that only shows something.
    func print(_ text: String) throws(UndeliveredResult) {
        try base.deliver(SecretBytes(text.utf8), of: nil)
    }
}
