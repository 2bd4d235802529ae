internal import CommandTable
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Runs one command line, without the program's name; returns the exit code.
///
/// All errors are reported here.
///
/// - Parameters:
///   - arguments: nil if they are not UTF-8.
///   - stop: notified when a signal asks the server to end.
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
        // Standard output was closed by its reader, such as `head`.
        return ExitCode.done.rawValue
    } catch {
        let failure = Failure(error)
        for line in failure.lines { console.note(line) }
        return failure.exitCode.rawValue
    }
}
