internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// Runs one command line, without the program's own name; answers the exit code.
///
/// Every error ends here and nowhere else.
///
/// - Parameter arguments: nil when they are not UTF-8.
public func runSIWA(_ arguments: [String]?, in world: World) async -> CInt {
    var world = world
    world.ending = Ending(world.signals, world.clocks.timekeeper)
    do {
        guard let arguments else { throw UsageError.notUTF8 }
        switch try siwaTool.parse(arguments) {
        case .help(let text), .version(let text): try world.deliver(SecretBytes(text.utf8), of: nil)
        case .run(let command): try await run(command, in: world)
        }
        if let signal = world.ending.signal { throw Interruption(signal: signal) }
        return ExitCode.done.rawValue
    } catch let error as FileError where error.isClosedPipe {
        // Whoever read our output has seen enough, as `head` does.
        return ExitCode.done.rawValue
    } catch {
        let diagnosis = Diagnosis(error, after: world.ending.signal)
        // A call that could not be understood must still answer in the form it asked for.
        let asksForJSON = arguments?.prefix { $0 != "--" }.contains("--json") ?? false
        for line in asksForJSON
            ? [diagnosis.json.safeText] : diagnosis.lines(world.terminal.errors)
        {
            world.errorLine(line)
        }
        return diagnosis.exitCode.rawValue
    }
}

/// A command that cannot obey its call says so; whose help explains it is added here.
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

extension UsageError.Problem {
    /// A call that the table accepts and the command cannot obey.
    static func misuse(_ message: String, hint: String) -> Self {
        .misuse(message: message, hints: [hint])
    }
}
