/// The script for zsh: a function for each place on the line, which leaves the reading of flags to
/// zsh's own `_arguments`.
struct ZshCompletions {
    let tree: CompletionTree

    var script: String {
        """
        #compdef \(tree.tool)
        # zsh completion for \(tree.tool), made by '\(tree.tool) completions zsh'.

        # Offers the words that can follow the words $1.
        \(name)_next() {
            local -a entries
            case $1 in
        \(tree.nodes.filter { !$0.next.isEmpty }.map(next).joined(separator: "\n"))
            esac
            _describe -t commands command entries
        }

        # Offers the next word of a command whose name is typed as operands.
        \(name)_spoken() { \(name)_next "${(j: :)words[1,CURRENT-1]}" }

        # Offers what 'help' explains: commands and topics.
        \(name)_topics() {
            local -a topics=(\(topicWords))
            ((CURRENT > 1)) || _describe -t topics topic topics
            \(name)_spoken
        }

        # After an '@', offers the files that a secret can be read from.
        \(name)_secret() { compset -P @ && _files }

        \(tree.nodes.map(function).joined(separator: "\n\n"))

        # Loaded by compinit, this file is the body of the function; sourced, it has to register it.
        if [[ $funcstack[1] == \(name) ]]; then
            \(name) "$@"
        else
            compdef \(name) \(tree.tool)
        fi

        """
    }

    private var name: String { tree.function }
    private var topicWords: String {
        tree.topics.map { quoted("\($0.term):\($0.meaning)") }.joined(separator: " ")
    }

    private func function(at path: String) -> String {
        path.isEmpty ? name : "\(name)__\(CompletionTree.identifier(path))"
    }

    private func next(_ node: CompletionTree.Node) -> String {
        let entries = node.next.map { entry in
            "            " + quoted("\(entry.term):\(entry.meaning)")
        }
        return """
                \(quoted(node.path)))
                    entries=(
            \(entries.joined(separator: "\n"))
                    )
                    ;;
            """
    }

    private func function(_ node: CompletionTree.Node) -> String {
        let specifications = node.flags.flatMap(flag) + places(node)
        return """
            \(function(at: node.path))() {
            \(node.next.isEmpty ? "" : opening)\
                _arguments -s -S\(node.next.isEmpty ? "" : " -C") \\
            \(specifications.map { "        \(quoted($0))" }.joined(separator: " \\\n"))
            \(node.next.isEmpty ? "" : dispatch(node))}
            """
    }

    private var opening: String {
        """
            local curcontext=$curcontext state state_descr line
            typeset -A opt_args

        """
    }

    /// Continues with the function of the next word.
    private func dispatch(_ node: CompletionTree.Node) -> String {
        let cases = node.next.map { entry in
            let path = node.path.isEmpty ? entry.term : "\(node.path) \(entry.term)"
            return "        \(entry.term)) \(function(at: path)) ;;"
        }
        return """
                case $state in
                word) \(name)_next \(quoted(node.path)) ;;
                rest)
                    case $words[1] in
            \(cases.joined(separator: "\n"))
                    esac
                    ;;
                esac

            """
    }

    /// The completions by position: the next word and those after it, or operands.
    private func places(_ node: CompletionTree.Node) -> [String] {
        guard node.next.isEmpty else { return ["(-): :->word", "(-)*:: :->rest"] }
        return node.operands.enumerated().map { index, operand in
            "\(place(index, operand))\(operand.name):\(action(operand))"
        }
    }

    /// `1:`, `2::` if it may be left out, `*:` for the rest; `*::` hands over only the rest.
    private func place(_ index: Int, _ operand: ParameterInfo) -> String {
        if operand.repeats { return operand.takesCommand ? "*::" : "*:" }
        return operand.isRequired ? "\(index + 1):" : "\(index + 1)::"
    }

    private func flag(_ info: ParameterInfo) -> [String] {
        let exclusion = info.repeats ? "*" : "(\(info.spellings.joined(separator: " ")))"
        let help = "[\(escaped(info.help))]"
        let value = ":\(escaped(info.valueName ?? "")):\(action(info))"
        return info.spellings.map { spelling in
            guard info.kind == .option else { return exclusion + spelling + help }
            return exclusion + spelling + (spelling.hasPrefix("--") ? "=" : "+") + help + value
        }
    }

    private func action(_ info: ParameterInfo) -> String {
        switch info.offer {
        case .nothing: " "
        case .choices(let choices): "(\(choices.joined(separator: " ")))"
        case .files: "_files"
        case .directories: "_files -/"
        case .commands: "\(name)_spoken"
        case .topics: "\(name)_topics"
        case .lines(let command): "{compadd -- ${(f)\"$(\(tree.tool) \(command) 2>/dev/null)\"}}"
        case .secret: "\(name)_secret"
        }
    }

    /// Escapes brackets, which end a help text, and colons, which end a field.
    private func escaped(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    private func quoted(_ text: String) -> String {
        "'\(text.substituting("'", with: "'\\''"))'"
    }
}
