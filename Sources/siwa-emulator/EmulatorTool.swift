internal import SIWACommandTable
internal import SIWALifecycle

/// The table of commands: parser, help, manual pages and completions all read it.
let emulatorTool = Tool<EmulatorWorld>(
    name: "siwa-emulator", version: version, released: "2026-11-21",
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
        InitCommand.self, ServeCommand.self, LogCommand.self, ConformCommand.self,
        VectorsCommand.self,
        CompletionsCommand<EmulatorWorld>.self,
        ManualCommand<EmulatorWorld>.self,
    ],
    globals: [], exitCodes: ExitCode.entries)
