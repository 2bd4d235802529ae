internal import CommandTable
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Runs one command line, without the program's own name; answers the exit code.
///
/// Every error ends here and nowhere else.
///
/// - Parameters:
///   - arguments: nil when they are not UTF-8.
///   - stop: notified when a signal asked a server to end.
func runEmulator(_ arguments: [String]?, until stop: WakeSignal) async -> CInt {
    let console = Console(stop: stop)
    do {
        guard let arguments else {
            throw Failure.usage(
                "an argument is not UTF-8", hints: ["rename the file, or use a UTF-8 locale"])
        }
        switch try emulatorTool.parse(arguments) {
        case .help(let text), .version(let text): try console.print(text)
        case .run(let command): try await command.run(in: console)
        }
        return ExitCode.done.rawValue
    } catch let error as FileError where error.isClosedPipe {
        // The reader of our output has closed it, as `head` does.
        return ExitCode.done.rawValue
    } catch {
        let failure = Failure(error)
        for line in failure.lines { console.note(line) }
        return failure.exitCode.rawValue
    }
}

/// Standard output for the result, standard error for everything else, and the signals.
struct Console: Sendable {
    /// Notified when a signal asked a server to end.
    let stop: WakeSignal

    /// Writes to standard output, at once.
    func print(_ text: String) throws(FileError) {
        try writeAll(SecretBytes(text.utf8), to: 1, named: "standard output")
    }

    /// Writes a line to standard error. A failure to write it cannot be reported.
    func note(_ line: String) {
        try? writeAll(SecretBytes((line + "\n").utf8), to: 2, named: "standard error")
    }

    /// Something the user should know, though nothing failed.
    func warn(_ message: String) { note("siwa-emulator: warning: \(message)") }
}
