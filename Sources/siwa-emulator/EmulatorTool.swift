internal import SIWACommandTable
internal import SIWALifecycle

/// The table of commands: parser, help, manual pages and completions all read it.
let emulatorTool = Tool<EmulatorWorld>(
    name: "siwa-emulator", version: version, released: "2026-11-24",
    abstract: "A strict Apple on this machine, for development and tests.",
    discussion: """
        siwa-emulator answers like the endpoints of Sign in with Apple: with the same checks in \
        the same order and the same messages. Unlike Apple, it says why, at /emulator/requests. \
        Apple accepts none of its keys and tokens.

        The state is kept in memory until the server ends. Control it with requests to \
        /emulator/: codes, tokens, faults, clock, switches, requests, keys/revoke, keys/rotate, \
        keys/private, sessions, sessions/access-token, transfer, seed, baits, notifications, \
        receiver, users, reset. The console at /emulator does the same for people.
        """,
    commands: [
        InitEmulatorCommand.self, ServeEmulatorCommand.self, LogCommand.self, ConformCommand.self,
        VectorsCommand.self,
        CompletionsCommand<EmulatorWorld>.self,
        ManualCommand<EmulatorWorld>.self,
    ],
    globals: [], exitCodes: EmulatorExitCode.entries)

/// The exit codes of siwa that the emulator uses.
enum EmulatorExitCode: CInt, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case settings = 3
    case defect = 70
    case temporary = 75

    /// Its description in help.
    private var meaning: String {
        switch self {
        case .done: "Success; also a server that SIGTERM or SIGINT stopped."
        case .failed: "conform: the backend failed a check."
        case .usage: "Usage error: an unknown flag, a missing argument."
        case .settings: "The folder, one of its files or the address cannot be used."
        case .defect: "A defect in siwa-emulator."
        case .temporary: "Temporary: the port is in use, the disk is full."
        }
    }

    static var entries: [Definition] {
        allCases.map { Definition(String($0.rawValue), $0.meaning) }
    }
}
