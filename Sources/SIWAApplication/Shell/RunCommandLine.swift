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

/// The error, with a hint to restore a vault whose keys are still there: one that was never made has
/// none.
private func restoring(
    _ diagnosis: Diagnosis, _ arguments: [String], in world: World
) -> Diagnosis {
    let usual = StoreError.Kind.notInitialized.remedy
    guard diagnosis.hints.contains(usual),
        let settings = try? Settings(ProfileSelection(in: arguments), in: world),
        case .file(let keys)? = try? settings.vaultKeySource(world.variables).value,
        world.files.exists(keys)
    else { return diagnosis }
    let restore = """
        the keys of a vault are in \(keys): if the vault was lost, restore it from its backup \
        (runbooks/backup-and-restore)
        """
    let save = Session(settings, OutputOptions(), in: world).adviceToSave().map { [$0] } ?? []
    return diagnosis.rewritten(
        hints: save + diagnosis.hints.flatMap { $0 == usual ? [restore, "or " + usual] : [$0] }
    ) { $0 }
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
