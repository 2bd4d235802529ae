extension Tool {
    /// Runs one command line, without the tool's own name.
    ///
    /// - Parameters:
    ///   - arguments: nil if they are not UTF-8.
    ///   - print: prints a page of help, or the version.
    ///   - world: makes the environment of the command with this name.
    /// - Throws: ``UsageError``, and what `print` and the command throw.
    package func run(
        _ arguments: [String]?, print: (String) throws -> Void,
        in world: (_ command: String) -> World
    ) async throws {
        guard let arguments else {
            throw error(
                .misuse(
                    message: "an argument is not UTF-8",
                    hints: ["rename the file, or use a UTF-8 locale"]))
        }
        switch try parse(arguments) {
        case .help(let text), .version(let text): try print(text)
        case .run(let command):
            let name = type(of: command).name
            do {
                try await command.run(in: world(name))
            } catch let problem as UsageError.Problem {
                throw error(problem, in: name)
            }
        }
    }
}

/// The action that a command line requests.
package enum Invocation<World>: Sendable {
    /// A command with its parameters filled in, ready to run.
    case run(any Command<World>)

    /// This help text, which ends in a newline.
    case help(String)

    /// This line naming the version, which ends in a newline.
    case version(String)
}
