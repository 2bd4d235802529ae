/// A program made of commands: its table, and everything that is derived from it.
package struct Tool<World>: Sendable {
    /// The name that is typed, and with which its messages begin.
    package let name: String
    let version: String
    let released: String
    let abstract: String
    let discussion: String
    let commands: [any Command<World>.Type]
    let globals: [ParameterInfo]
    let environment: [Definition]
    let exitCodes: [Definition]
    let topics: [HelpTopic]
    /// The first words of commands of another program, by its name: who types one here is told.
    let others: [String: [String]]

    /// A tool whose help lists `commands` in the order given.
    ///
    /// - Parameters:
    ///   - released: The day of the version, as in `2025-01-31`; manual pages carry it.
    ///   - globals: What is accepted before the command; every command that takes these options
    ///     lists them among its own parameters.
    ///   - environment: The variables that help and manual explain.
    ///   - exitCodes: The exit codes that help and manual explain.
    ///   - topics: What `help` explains besides the commands.
    ///   - others: The first words of commands of another program, by its name.
    package init(
        name: String, version: String, released: String = "", abstract: String,
        discussion: String = "", commands: [any Command<World>.Type], globals: [ParameterInfo],
        environment: [Definition] = [], exitCodes: [Definition] = [], topics: [HelpTopic] = [],
        others: [String: [String]] = [:]
    ) {
        self.name = name
        self.version = version
        self.released = released
        self.abstract = abstract
        self.discussion = discussion
        self.commands = commands
        self.globals = globals
        self.environment = environment
        self.exitCodes = exitCodes
        self.topics = topics
        self.others = others
    }

    /// The help of a command, of a group of commands, or of the tool itself.
    ///
    /// `options` is the page of the global options; a topic, alone or with one of its terms, has
    /// pages, too.
    package func help(for commandName: String?) throws(UsageError) -> String {
        if commandName == "options" { return HelpPage(tool: outline).options() }
        let words = commandName?.split(separator: " ").map { String($0) } ?? []
        if let page = try topicHelp(words) { return page }
        return switch try topic(commandName) {
        case .tool: HelpPage(tool: outline).overview()
        case .group(let word): HelpPage(tool: outline).group(word)
        case .command(let index): HelpPage(tool: outline).command(commandInfo(commands[index]))
        }
    }
}

extension Tool {
    var lookup: CommandLookup { CommandLookup(names: commands.map { $0.name }) }

    /// The whole table as data.
    ///
    /// Computed only for printing, because reading every command's table would take most of the
    /// time of a short command.
    var info: ToolInfo { info(commands.map { commandInfo($0) }) }

    /// The table without the parameters of the commands, which the overview does not need.
    var outline: ToolInfo {
        info(
            commands.map { type in
                CommandInfo(
                    name: type.name, abstract: type.abstract, discussion: type.discussion,
                    examples: type.examples, parameters: [])
            })
    }

    private func info(_ commands: [CommandInfo]) -> ToolInfo {
        ToolInfo(
            name: name, version: version, released: released, abstract: abstract,
            discussion: discussion, commands: commands, globals: describedGlobals + BuiltIn.flags,
            environment: environment, exitCodes: exitCodes,
            topics: topics.map(\.definition))
    }

    /// The global options with their defaults, which only commands know. Most are in the first
    /// command's table, which is then the only one read.
    private var describedGlobals: [ParameterInfo] {
        var described: [String: ParameterInfo] = [:]
        for type in commands where globals.contains(where: { described[$0.name] == nil }) {
            for info in type.parameterInfos where info.isGlobal {
                described[info.name] = described[info.name] ?? info
            }
        }
        return globals.map { described[$0.name] ?? $0 }
    }

    func error(_ problem: UsageError.Problem, in command: String? = nil) -> UsageError {
        UsageError(
            problem: elsewhere(problem) ?? problem,
            subject: command.map { "\(name) \($0)" } ?? name)
    }

    /// The problem with the program that has the command; nil if none has.
    private func elsewhere(_ problem: UsageError.Problem) -> UsageError.Problem? {
        guard case .unknownCommand(let typed?, _) = problem,
            let found = others.lazy.flatMap({ other in other.value.map { (other.key, $0) } })
                .first(where: { typed == "'\($0.1)'" })
        else { return nil }
        return .misuse(
            message: problem.message,
            hints: ["a command of \(found.0): \(found.0) \(found.1)"])
    }

    func commandInfo(_ type: any Command<World>.Type) -> CommandInfo {
        CommandInfo(
            name: type.name, abstract: type.abstract, discussion: type.discussion,
            examples: type.examples, parameters: type.parameterInfos + BuiltIn.flags)
    }

    enum Topic {
        case tool
        case group(String)
        case command(Int)
    }

    func topic(_ commandName: String?) throws(UsageError) -> Topic {
        let words = commandName?.split(separator: " ").map { String($0) } ?? []
        guard !words.isEmpty else { return .tool }
        do throws(UsageError.Problem) {
            switch try lookup.match(words) {
            case .command(let index, words: words.count): return .command(index)
            case .group(let word) where words.count == 1: return .group(word)
            case .group: throw lookup.incomplete(words)
            case .command(_, let count):
                throw .unexpectedOperand(typed: quotedName(words[count]))
            }
        } catch {
            throw self.error(error)
        }
    }
}
