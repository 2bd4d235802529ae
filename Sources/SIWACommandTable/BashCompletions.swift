/// The script for Bash: the table as two functions, and one function that reads the line.
struct BashCompletions {
    let tree: CompletionTree

    var script: String {
        """
        # Bash completion for \(tree.tool), made by '\(tree.tool) completions bash'.

        # Sets what can follow the words $1; fails if they lead nowhere.
        \(name)_node() {
            case "$1" in
        \(tree.nodes.map(node).joined(separator: "\n"))
            *) return 1 ;;
            esac
        }

        # Prints how the value of the option $2, or of the operand with that number, is completed.
        \(name)_value() {
            case "$1 $2" in
        \(values.joined(separator: "\n"))
            esac
        }

        \(BashReader.script.substituting("NAME", with: name))
        complete -F \(name) \(tree.tool)

        """
    }

    private var name: String { tree.function }

    private func node(_ node: CompletionTree.Node) -> String {
        """
            '\(node.path)')
                words='\(node.next.map(\.term).joined(separator: " "))'
                flags='\(node.flags.flatMap(\.spellings).joined(separator: " "))'
                valued='\(node.options.flatMap(\.spellings).joined(separator: " "))'
                ;;
        """
    }

    private var values: [String] {
        tree.nodes.flatMap { node in
            let options = node.options.map { ($0, $0.spellings.map { "'\(node.path) \($0)'" }) }
            let operands = node.operands.enumerated().map { index, operand in
                (operand, ["'\(node.path) '" + (operand.repeats ? "[0-9]*" : "\(index + 1)")])
            }
            return (options + operands).compactMap { parameter, patterns in
                completion(of: parameter).map {
                    "    \(patterns.joined(separator: " | "))) echo '\($0)' ;;"
                }
            }
        }
    }

    private func completion(of parameter: ParameterInfo) -> String? {
        switch parameter.offer {
        case .nothing: nil
        case .choices(let choices): "choices \(choices.joined(separator: " "))"
        case .files: "file"
        case .directories: "directory"
        case .commands: "command"
        case .topics: (["command"] + tree.topics.map(\.term)).joined(separator: " ")
        case .lines(let command): "lines \(tree.tool) \(command)"
        case .secret: "secret"
        }
    }
}
