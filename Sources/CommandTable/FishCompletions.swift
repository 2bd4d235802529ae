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

        \(reader)
        complete -c \(tree.tool) -f
        \(tree.nodes.flatMap(offers).joined(separator: "\n"))

        """
    }

    private var name: String { "_\(tree.function)" }

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
                    echo \(node.options.flatMap(\.spellings).joined(separator: " "))
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

    /// An offer that holds at `node`, after as many operands as `place` says.
    private func offer(_ node: CompletionTree.Node, _ place: String, _ what: String) -> String {
        let condition = "\(name)_at \(quoted(node.path)) \(place)"
        return "complete -c \(tree.tool) -n \(quoted(condition)) \(what)"
    }

    private func values(of info: ParameterInfo) -> String? {
        if !info.choices.isEmpty { return "-f -a \(quoted(info.choices.joined(separator: " ")))" }
        return switch info.completion {
        case .none: nil
        case .file: "-F"
        case .directory: "-f -a '(__fish_complete_directories (commandline -ct))'"
        case .command: "-f -a '(\(name)_next $\(name)_operands)'"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }

    /// The part that is the same for every tool but for the names.
    private var reader: String {
        #"""
        # Whether the words before the cursor are $argv[1], followed by $argv[2] operands: a number,
        # a number and '+' for that many or more, or nothing when any number will do.
        function NAME_at
            set -l node
            set -l option
            set -l ended
            set -g NAME_operands
            set -l valued (NAME_valued | string split ' ')
            for word in (commandline -opc)[2..]
                if set -q option[1]
                    set -e option
                    set option
                else if not set -q ended[1]; and test "$word" = --
                    set ended 1
                else if not set -q ended[1]; and string match -q -- '-?*' "$word"
                    if contains -- "$word" $valued
                        set option 1
                    end
                else if not set -q ended[1]; and not set -q NAME_operands[1]
                    and NAME_next $node | string match -q -- "$word"\t'*'
                    set -a node "$word"
                    set valued (NAME_valued $node | string split ' ')
                else
                    set -a NAME_operands "$word"
                end
            end
            set -l count (count $NAME_operands)
            test "$node" = "$argv[1]"; or return 1
            switch "$argv[2]"
                case ''
                    not set -q ended[1]
                case '*+'
                    test $count -ge (string trim -c + $argv[2])
                case '*'
                    test $count -eq $argv[2]
            end
        end
        """#.replacing("NAME", with: name)
    }
}
