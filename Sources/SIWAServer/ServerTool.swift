package import CommandTable
internal import Lifecycle
internal import LocalFiles
internal import SIWACLI
internal import SIWACrypto

/// The table of commands, which parser, help, manual pages and completions read.
package let serverTool = Tool<ServerWorld>(
    name: "siwa-server", version: version, released: "2026-11-22",
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
        TokenRemoveCommand.self, WebhookSecretCommand.self, ServerCompletionsCommand.self,
        ServerManualCommand.self,
    ],
    globals: [], exitCodes: ServerExitCodes.entries)

/// The exit codes, for help: a subset of those of `siwa`.
enum ServerExitCodes {
    static var entries: [Definition] {
        [
            Definition("0", "Success; also a server that SIGTERM or SIGINT stopped."),
            Definition("1", "A token with this name does not exist, or exists already."),
            Definition("2", "Usage error: an unknown flag, a missing argument."),
            Definition("3", "The configuration, a key, the vault or a listener cannot be used."),
            Definition("70", "A defect in siwa-server."),
            Definition(
                "75",
                "Temporary: the database does not answer, or is a standby; after serve, a token is lost."
            ),
        ]
    }
}

/// Runs one command line, without the program's name; returns the exit code. All errors are
/// reported here.
///
/// - Parameter arguments: nil if they are not UTF-8.
package func runServer(_ arguments: [String]?, in world: ServerWorld) async -> CInt {
    do {
        guard let arguments else {
            throw Diagnosis(
                "usage", "an argument is not UTF-8",
                hints: ["rename the file, or use a UTF-8 locale"], exitCode: .usage)
        }
        switch try serverTool.parse(arguments) {
        case .help(let text), .version(let text): try world.print(text)
        case .run(let command): try await command.run(in: world)
        }
        return ExitCode.done.rawValue
    } catch let end as ReportedEnd {
        return end.exitCode.rawValue
    } catch {
        let diagnosis = Diagnosis(error)
        for line in diagnosis.lines(for: "siwa-server") { world.base.errorLine(line) }
        return diagnosis.exitCode.rawValue
    }
}

/// The end of a command that has reported its error itself.
struct ReportedEnd: Error {
    let exitCode: ExitCode
}

extension ServerWorld {
    /// Writes a result to standard output.
    func print(_ text: String) throws(Diagnosis) {
        do {
            try base.output(SecretBytes(text.utf8))
        } catch {
            throw Diagnosis(
                "not_delivered", error.description,
                hints: ["fix standard output, then run it again"], exitCode: .notDelivered)
        }
    }
}
