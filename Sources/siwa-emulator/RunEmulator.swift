internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// Runs one command line, without the program's name; returns the exit code.
///
/// All errors are reported here.
///
/// - Parameters:
///   - arguments: nil if they are not UTF-8.
///   - stop: notified when a signal asks the server to end.
func runEmulator(_ arguments: [String]?, until stop: WakeSignal) async -> CInt {
    let world = EmulatorWorld(stop: stop)
    do {
        try await emulatorTool.run(arguments, print: world.print) { _ in world }
        return EmulatorExitCode.done.rawValue
    } catch let error as FileError where error.isClosedPipe {
        // Standard output was closed by its reader, such as `head`.
        return EmulatorExitCode.done.rawValue
    } catch {
        let failure = Failure(error)
        for line in failure.lines { world.note(line) }
        return failure.exitCode.rawValue
    }
}
