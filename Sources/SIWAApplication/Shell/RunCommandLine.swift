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
    var command: String?
    do {
        try await tool.run(
            arguments, print: { try world.deliver(SecretBytes($0.utf8), of: nil) },
            in: {
                command = "\(tool.name) \($0)"
                return prepare(world, $0)
            })
        if let signal = world.ending.signal { throw Interruption(signal: signal) }
        exitCode = ExitCode.done.rawValue
    } catch let error as FileError where error.isClosedPipe {
        // Standard output was closed by its reader, such as `head`.
        exitCode = ExitCode.done.rawValue
    } catch let end as ReportedEnd {
        exitCode = end.exitCode.rawValue
    } catch {
        let diagnosis = world.words.shown(
            restoring(Diagnosis(error, after: world.ending.signal), arguments ?? [], in: world),
            of: command)
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

/// The error, with what to do first about a vault that was lost: it is saved from a server that still has
/// it open, or restored if its keys are still there, and no other is created in its place.
private func restoring(
    _ diagnosis: Diagnosis, _ arguments: [String], in world: World
) -> Diagnosis {
    guard diagnosis.exitCode == .settings,
        let settings = try? Settings(ProfileSelection(in: arguments), in: world)
    else { return diagnosis }
    let save = Session(settings, OutputOptions(), in: world).adviceToSave()
    let absent = StoreError.Kind.notInitialized.remedy
    var restore: String?
    if case .file(let keys)? = try? settings.vaultKeySource(world.variables).value,
        world.files.exists(keys)
    {
        restore = """
            the keys of a vault are in \(keys): if the vault was lost, restore it from its backup \
            (runbooks/backup-and-restore)
            """
    }
    let hints = diagnosis.hints.flatMap { hint -> [String] in
        switch hint {
        case absent where restore != nil || save != nil:
            return [restore, save == nil ? "or " + absent : nil].compactMap(\.self)
        case Session.adviceToCreate where save != nil: return []
        default: return [hint]
        }
    }
    return diagnosis.rewritten(hints: [save].compactMap(\.self) + hints) { $0 }
}

extension ProfileSelection {
    /// What a command line chooses.
    fileprivate init(in arguments: [String]) {
        func value(_ flag: String) -> String? {
            for (index, argument) in arguments.enumerated() {
                if argument == flag { return arguments.dropFirst(index + 1).first }
                if argument.hasPrefix(flag + "=") {
                    return String(argument.dropFirst(flag.count + 1))
                }
            }
            return nil
        }
        self.init(file: value("--config"), name: value("--profile"))
    }
}

/// The end of a command that has reported its error itself.
package struct ReportedEnd: Error {
    let exitCode: ExitCode

    package init(exitCode: ExitCode) { self.exitCode = exitCode }
}
