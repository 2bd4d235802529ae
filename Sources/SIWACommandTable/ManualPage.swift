/// Manual pages in the man(7) language, such as siwa(1) and siwa-secret(1).
struct ManualPage {
    let tool: ToolInfo

    /// The page of the tool itself.
    func overview() -> ToolDocument {
        render(
            tool.name, tool.abstract,
            [
                synopsis(["COMMAND", "[OPTIONS]", "[ARGUMENTS]"]),
                description(tool.abstract, tool.discussion),
                section("COMMANDS", tool.commands.map { (Roff.bold($0.name), $0.abstract) }),
                section("GLOBAL OPTIONS", tool.globals.map(\.manualItem)),
                section("ENVIRONMENT", tool.environment.map { (Roff.bold($0.term), $0.meaning) }),
                exitStatus,
                seeAlso(tool.commands.map { page($0.name) }),
            ])
    }

    /// The page of one command.
    func command(_ command: CommandInfo) -> ToolDocument {
        render(
            page(command.name), command.abstract,
            [
                synopsis(command.synopsis),
                description(command.abstract, command.discussion),
                section("ARGUMENTS", command.operands.map(\.manualItem)),
                section("OPTIONS", command.options.map(\.manualItem)),
                section("GLOBAL OPTIONS", command.globals.map(\.manualItem)),
                Roff.section("SECRETS", command.secretsNote.map(Roff.paragraph) ?? []),
                examples(command.examples),
                exitStatus,
                seeAlso([tool.name]),
            ])
    }

    /// The page's name: `siwa-config-show`.
    private func page(_ command: String) -> String {
        "\(tool.name)-" + command.substituting(" ", with: "-")
    }

    func render(
        _ page: String, _ abstract: String, _ blocks: [[String]], section: Int = 1
    ) -> ToolDocument {
        let lines = title(page, abstract, section) + blocks.joined()
        return ToolDocument(
            kind: .manualPage, fileName: "\(page).\(section)",
            text: lines.joined(separator: "\n") + "\n")
    }

    /// The title lines; they disable hyphenation, which would break flags and URLs.
    private func title(_ page: String, _ abstract: String, _ section: Int) -> [String] {
        let purpose = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        let source = Roff.escaped("\(tool.name) \(tool.version)")
        return [
            ".TH \(Roff.escaped(page.uppercased())) \(section) \"\(tool.released)\" \"\(source)\"",
            ".nh",
        ]
            + Roff.section("NAME", ["\(Roff.escaped(page)) \\- \(Roff.escaped(purpose))"])
    }

    private func synopsis(_ words: [String]) -> [String] {
        let line = "\(Roff.bold(tool.name)) \(Roff.escaped(words.joined(separator: " ")))"
        return Roff.section("SYNOPSIS", [line])
    }

    func description(_ abstract: String, _ discussion: String) -> [String] {
        let paragraphs = TextLayout.paragraphs(discussion).flatMap { paragraph in
            switch paragraph {
            case .prose(let text): Roff.paragraph(text)
            case .verbatim(let lines): Roff.verbatim(lines)
            }
        }
        return Roff.section("DESCRIPTION", Roff.paragraph(abstract) + paragraphs)
    }

    func section(_ title: String, _ items: [(String, String)]) -> [String] {
        Roff.section(title, items.flatMap { Roff.item($0, $1) })
    }

    private var exitStatus: [String] {
        section("EXIT STATUS", tool.exitCodes.map { (Roff.bold($0.term), $0.meaning) })
    }

    private func examples(_ examples: [Example]) -> [String] {
        let body = examples.flatMap { Roff.paragraph($0.meaning) + Roff.verbatim([$0.command]) }
        return Roff.section("EXAMPLES", body)
    }

    func seeAlso(_ pages: [String]) -> [String] {
        Roff.section("SEE ALSO", [pages.map { "\(Roff.bold($0))(1)" }.joined(separator: ",\n")])
    }
}

extension ParameterInfo {
    fileprivate var manualItem: (String, String) {
        let spellings = [short.map { Roff.bold("-\($0)") }, Roff.bold(label)].compactMap(\.self)
        let value = valueName.map { " " + Roff.italic($0) } ?? ""
        return (spellings.joined(separator: ", ") + value, meaning)
    }
}
