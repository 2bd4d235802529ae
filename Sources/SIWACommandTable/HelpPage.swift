/// Help as plain text, 80 characters wide.
struct HelpPage {
    let tool: ToolInfo

    /// The help of the tool itself.
    func overview() -> String {
        render([
            usage("COMMAND [OPTIONS] [ARGUMENTS]"),
            TextLayout.wrapped(tool.abstract),
            discussion(tool.discussion),
            section("Commands", tool.commands.map(\.entry)),
            globals(tool.globals),
            section("Environment", tool.environment),
            section("Exit codes", tool.exitCodes),
            pointer(to: "COMMAND"),
            section(
                "More help",
                tool.topics.map { Definition("\(tool.name) help \($0.term)", $0.meaning) }),
        ])
    }

    /// The help of a word that is only the beginning of commands.
    func group(_ word: String) -> String {
        render([
            usage("\(word) COMMAND [OPTIONS] [ARGUMENTS]"),
            section("Commands", tool.commands.filter { $0.isMember(of: word) }.map(\.entry)),
            globals(tool.globals),
            pointer(to: "\(word) COMMAND"),
        ])
    }

    /// The help of one command.
    func command(_ command: CommandInfo) -> String {
        render([
            usage(command.synopsis.joined(separator: " ")),
            TextLayout.wrapped(command.abstract),
            discussion(command.discussion),
            section("Arguments", command.operands.map(\.helpEntry)),
            section("Options", command.options.map(\.helpEntry)),
            globals(command.globals),
            secrets(command),
            examples(command.examples),
        ])
    }

    /// The help of the options that every command accepts.
    func options() -> String {
        render([
            usage("[OPTIONS] COMMAND [OPTIONS] [ARGUMENTS]"),
            TextLayout.wrapped(
                "Every command accepts these options, before or after its name."),
            section("Global options", tool.globals.map(\.helpEntry)),
        ])
    }

    func render(_ blocks: [[String]]) -> String {
        blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
            .joined(separator: "\n\n") + "\n"
    }

    /// The usage line; continuation lines are aligned with the first word after the tool's name.
    func usage(_ synopsis: String) -> [String] {
        let head = "Usage: \(tool.name) "
        var lines = TextLayout.wrapped(synopsis, indent: head.count)
        if let first = lines.first { lines[0] = head + first.dropFirst(head.count) }
        return lines
    }

    func discussion(_ text: String) -> [String] {
        Array(
            TextLayout.paragraphs(text).map { paragraph in
                switch paragraph {
                case .prose(let text): TextLayout.wrapped(text)
                case .verbatim(let lines): lines
                }
            }.joined(separator: [""]))
    }

    func section(_ title: String, _ rows: [Definition]) -> [String] {
        rows.isEmpty ? [] : ["\(title):"] + TextLayout.table(rows)
    }

    /// One line for all global options; a tool without options of its own lists each of them.
    private func globals(_ infos: [ParameterInfo]) -> [String] {
        let own = infos.filter { info in !BuiltIn.flags.contains { $0.name == info.name } }
        guard own.count > 4 else { return section("Global options", infos.map(\.helpEntry)) }
        return TextLayout.wrapped(
            "Global options, such as \(own[0].label) and \(own[1].label): see "
                + "'\(tool.name) help options'.")
    }

    private func secrets(_ command: CommandInfo) -> [String] {
        guard let note = command.secretsNote else { return [] }
        return ["Secrets:"] + TextLayout.wrapped(note, indent: 2)
    }

    private func examples(_ examples: [Example]) -> [String] {
        guard !examples.isEmpty else { return [] }
        return ["Examples:"]
            + examples.map { example in
                TextLayout.wrapped(example.meaning, indent: 2) + ["    \(example.command)"]
            }.joined(separator: [""])
    }

    private func pointer(to command: String) -> [String] {
        ["See '\(tool.name) help \(command)' for more about one command."]
    }
}
