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

        \(reader)
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
        if !parameter.choices.isEmpty {
            return "choices \(parameter.choices.joined(separator: " "))"
        }
        return parameter.completion == .none ? nil : parameter.completion.rawValue
    }

    /// The part that is the same for every tool but for the names.
    private var reader: String {
        #"""
        NAME() {
            local words flags valued node='' operands='' count=1 option='' ended='' word
            local -a line=()
            NAME_line
            local cur=${line[-1]} last=${COMP_WORDS[COMP_CWORD]}
            unset 'line[-1]'
            NAME_node ''
            for word in "${line[@]:1}"; do
                if [[ -n $option ]]; then
                    option=''
                elif [[ -z $ended && $word == -- ]]; then
                    ended=1
                elif [[ -z $ended && $word == -?* ]]; then
                    if [[ " $valued " == *" $word "* ]]; then option=$word; fi
                elif [[ -z $ended$operands ]] && NAME_node "${node:+$node }$word"; then
                    node=${node:+$node }$word
                else
                    operands+=${operands:+ }$word
                    count=$((count + 1))
                fi
            done
            local prefix='' kind
            if [[ -n $option ]]; then
                kind=$(NAME_value "$node" "$option")
            elif [[ -z $ended && $cur == --*=* ]]; then
                prefix=${cur%%=*}=
                kind=$(NAME_value "$node" "${cur%%=*}")
            elif [[ -z $ended && $cur == -* ]]; then
                kind="choices $flags"
            elif [[ -z $ended$operands && -n $words ]]; then
                kind="choices $words"
            else
                kind=$(NAME_value "$node" "$count")
            fi
            NAME_reply "$kind" "$prefix" "${cur#"$prefix"}"
        }

        # Puts the words together again that Bash took apart at '=', ':' and '@': those without a
        # blank before them.
        NAME_line() {
            local rest=${COMP_LINE:-${COMP_WORDS[*]}} word bare i
            for ((i = 0; i <= COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                bare=${rest#"${rest%%[![:space:]]*}"}
                if [[ $i -gt 0 && -n $word && $bare == "$rest" ]]; then
                    line[-1]+=$word
                else
                    line+=("$word")
                fi
                rest=${bare#"$word"}
            done
        }

        # Offers what begins with $3, as far as Bash will replace what is typed.
        NAME_reply() {
            local kind=${1%% *} typed=$2$3
            COMPREPLY=()
            case $kind in
            choices) mapfile -t COMPREPLY < <(compgen -W "${1#choices}" -- "$3") ;;
            command)
                NAME_node "$operands"
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$3")
                ;;
            file | directory)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -A "$kind" -- "$3")
                ;;
            esac
            # After '--option=' the last word is '=' itself, and stays.
            if [[ $last == [=:@] ]]; then last=''; fi
            local stem=${typed%"$last"}
            COMPREPLY=("${COMPREPLY[@]/#/$2}")
            COMPREPLY=("${COMPREPLY[@]#"$stem"}")
        }
        """#.replacing("NAME", with: name)
    }
}
