/// The script for fish: two functions that read the line, and one `complete` for each offer.
struct FishCompletions {
    let tree: CompletionTree

    var script: String {
        """
        # fish completion for \(tree.tool), made by '\(tree.tool) completions fish'.

        # Prints the words that can follow the words given, each with what it does.
        function \(name)_next
            switch "$argv"
        \(tree.nodes.filter { !$0.next.isEmpty }.map(next).joined(separator: "\n"))
            end
        end

        # Prints the options that take a value after the words given.
        function \(name)_valued
            switch "$argv"
        \(tree.nodes.filter { !$0.options.isEmpty }.map(valued).joined(separator: "\n"))
            end
        end

        # Prints what 'help' explains after the words typed, each with what it does.
        function \(name)_topics
            \(name)_next $\(name)_operands
            set -q \(name)_operands[1]; or printf '%s\\t%s\\n' \(topicWords)
        end

        \(FishReader.script.substituting("NAME", with: name))
        complete -c \(tree.tool) -f
        \(tree.nodes.flatMap(offers).joined(separator: "\n"))

        """
    }

    private var name: String { "_\(tree.function)" }

    private var topicWords: String {
        tree.topics.map { "\(quoted($0.term)) \(quoted($0.meaning))" }.joined(separator: " ")
    }

    private func next(_ node: CompletionTree.Node) -> String {
        let words = node.next.map { "            \(quoted($0.term)) \(quoted($0.meaning))" }
        return """
                    case \(quoted(node.path))
                        printf '%s\\t%s\\n' \\
            \(words.joined(separator: " \\\n"))
            """
    }

    private func valued(_ node: CompletionTree.Node) -> String {
        """
                case \(quoted(node.path))
                    printf '%s\\n' \(node.options.flatMap(\.spellings).joined(separator: " "))
        """
    }

    private func offers(_ node: CompletionTree.Node) -> [String] {
        let words =
            node.next.isEmpty
            ? [] : [offer(node, "0", "-a \(quoted("(\(name)_next \(quoted(node.path)))"))")]
        let operands = node.operands.enumerated().compactMap { index, operand in
            values(of: operand).map { offer(node, operand.repeats ? "\(index)+" : "\(index)", $0) }
        }
        return words + operands + node.flags.map { flag(node, $0) }
    }

    private func flag(_ node: CompletionTree.Node, _ info: ParameterInfo) -> String {
        let short = info.short.map { "-s \($0) " } ?? ""
        let value = info.kind == .option ? " -r \(values(of: info) ?? "-f")" : ""
        return offer(node, "", "\(short)-l \(info.name)\(value) -d \(quoted(info.help))")
    }

    /// A completion that is offered at `node`, after the number of operands that `place` requires.
    private func offer(_ node: CompletionTree.Node, _ place: String, _ what: String) -> String {
        let condition = "\(name)_at \(quoted(node.path)) \(place)"
        return "complete -c \(tree.tool) -n \(quoted(condition)) \(what)"
    }

    private func values(of info: ParameterInfo) -> String? {
        switch info.offer {
        case .nothing: nil
        case .choices(let choices): "-f -a \(quoted(choices.joined(separator: " ")))"
        case .files: "-F"
        case .directories: "-f -a '(__fish_complete_directories (commandline -ct))'"
        case .commands: "-f -a '(\(name)_next $\(name)_operands)'"
        case .topics: "-f -a '(\(name)_topics)'"
        case .lines(let command): "-f -a '(\(tree.tool) \(command) 2>/dev/null)'"
        case .secret: "-f -a '(\(name)_secret)'"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(text.substituting("\\", with: "\\\\").substituting("'", with: "\\'"))'"
    }
}
