internal import CommandTable
internal import Lifecycle

/// The table of commands: parser, help, manual pages and completions all read it.
let emulatorTool = Tool<Console>(
    name: "siwa-emulator", version: version, released: "2026-11-21",
    abstract: "A strict Apple on this machine, for development and tests.",
    discussion: """
        siwa-emulator answers like the token endpoints of Sign in with Apple: same checks, same \
        order, same words, and unlike Apple it says why, at /emulator/requests. No key and no \
        token of it means anything to Apple.

        State lives in memory and ends with the server. Control it with requests to /emulator/: \
        codes, faults, clock, switches, requests, keys/revoke, keys/rotate, transfer, seed, \
        notifications, receiver, users, reset. The console at /emulator does the same for \
        people.
        """,
    commands: [
        InitCommand.self, ServeCommand.self, LogCommand.self, CompletionsCommand.self,
        ManualCommand.self,
    ],
    globals: [], exitCodes: ExitCode.entries)
