extension Tool {
    /// The words of the table that scripts rely on: commands, flags, choices, exit codes and
    /// variables of the environment.
    ///
    /// For the program's own tests, which compare them with docs/contract.
    package func contract() -> Set<String> {
        let info = info
        let commands = info.commands.flatMap { command in
            [command.name]
                + command.parameters.filter { !$0.isGlobal }.map {
                    "\(command.name) \($0.contract)"
                }
        }
        let globals = info.globals.map { "every command \($0.contract)" }
        let others =
            info.exitCodes.map { "exit code \($0.term)" }
            + info.environment.map { "variable \($0.term)" }
        let topics = topics.map { "help \($0.name)" }
        return Set(commands + globals + others + topics)
    }
}

// What docs/reference.md shows of the table.
extension Tool {
    /// The commands, and what they do.
    package var commandDefinitions: [Definition] {
        commands.map { Definition($0.name, $0.abstract) }
    }

    /// The options of every command.
    package var globalDefinitions: [Definition] { info.globals.map(\.helpEntry) }

    /// The variables of the environment.
    package var environmentDefinitions: [Definition] { environment }
}

extension ParameterInfo {
    /// `--format FORMAT (required) pem|jwk`
    fileprivate var contract: String {
        let names = (short.map { ["-\($0)"] } ?? []) + [label]
        let value = valueName.map { " \($0)" } ?? ""
        let choices = choices.isEmpty ? "" : " " + choices.joined(separator: "|")
        return names.joined(separator: ", ") + value + (isRequired ? " (required)" : "") + choices
    }
}
