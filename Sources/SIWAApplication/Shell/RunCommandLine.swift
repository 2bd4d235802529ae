package import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Runs one command line of a program, without the program's name; returns the exit code.
///
/// All errors are reported here.
///
/// - Parameters:
///   - arguments: nil if they are not UTF-8.
///   - errorsAreJSON: whether an error is printed as JSON.
///   - prepare: makes the environment of the command with this name.
package func runCommandLine<CommandWorld>(
    _ arguments: [String]?, of tool: Tool<CommandWorld>, in world: World,
    errorsAreJSON: Bool = false, _ prepare: (World, _ command: String) -> CommandWorld
) async -> CInt {
    var world = world
    world.ending = Ending(world.signals, world.clocks.timekeeper)
    world.metrics = TaskMetrics()
    world.words = ServiceWords(world, arguments ?? [])
    let exitCode: CInt
    do {
        try await tool.run(
            arguments, print: { try world.deliver(SecretBytes($0.utf8), of: nil) },
            in: { prepare(world, $0) })
        if let signal = world.ending.signal { throw Interruption(signal: signal) }
        exitCode = ExitCode.done.rawValue
    } catch let error as FileError where error.isClosedPipe {
        // Standard output was closed by its reader, such as `head`.
        exitCode = ExitCode.done.rawValue
    } catch let end as ReportedEnd {
        exitCode = end.exitCode.rawValue
    } catch {
        let diagnosis = world.words.shown(Diagnosis(error, after: world.ending.signal))
        for line in errorsAreJSON
            ? [diagnosis.json.text] : diagnosis.lines(world.terminal.errors, tool.name)
        {
            world.errorLine(line)
        }
        exitCode = diagnosis.exitCode.rawValue
    }
    world.metrics.write(exitCode, in: world)
    return exitCode
}

/// The end of a command that has reported its error itself.
package struct ReportedEnd: Error {
    let exitCode: ExitCode

    package init(exitCode: ExitCode) { self.exitCode = exitCode }
}
