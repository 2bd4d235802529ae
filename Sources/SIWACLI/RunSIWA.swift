internal import CommandTable
internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Runs one command line, without the name of the program; returns the exit code.
///
/// All errors are reported here.
///
/// - Parameter arguments: nil if they are not UTF-8.
package func runSIWA(_ arguments: [String]?, in world: World) async -> CInt {
    var world = world
    world.ending = Ending(world.signals, world.clocks.timekeeper)
    world.metrics = TaskMetrics()
    let exitCode = await runReportingErrors(arguments, in: world)
    world.metrics.write(exitCode, in: world)
    return exitCode
}

private func runReportingErrors(_ arguments: [String]?, in world: World) async -> CInt {
    do {
        guard let arguments else { throw UsageError.notUTF8 }
        switch try siwaTool.parse(arguments) {
        case .help(let text), .version(let text): try world.deliver(SecretBytes(text.utf8), of: nil)
        case .run(let command): try await run(command, in: world)
        }
        if let signal = world.ending.signal { throw Interruption(signal: signal) }
        return ExitCode.done.rawValue
    } catch let error as FileError where error.isClosedPipe {
        // Standard output was closed by its reader, such as `head`.
        return ExitCode.done.rawValue
    } catch {
        let diagnosis = Diagnosis(error, after: world.ending.signal)
        // Usage errors are JSON too if `--json` is given.
        let asksForJSON = arguments?.prefix { $0 != "--" }.contains("--json") ?? false
        for line in asksForJSON
            ? [diagnosis.json.text] : diagnosis.lines(world.terminal.errors)
        {
            world.errorLine(line)
        }
        return diagnosis.exitCode.rawValue
    }
}

/// Adds the name of the command to a usage error that the command throws.
private func run(_ command: any Command<World>, in world: World) async throws {
    var world = world
    world.actor = VaultActor(command: type(of: command).name, host: world.actor.host)
    do {
        try await command.run(in: world)
    } catch let problem as UsageError.Problem {
        throw UsageError(problem: problem, subject: "siwa \(type(of: command).name)")
    }
}

extension UsageError {
    fileprivate static let notUTF8 = Self(
        problem: .misuse(
            "an argument is not UTF-8", hint: "rename the file, or use a UTF-8 locale"),
        subject: "siwa")
}
