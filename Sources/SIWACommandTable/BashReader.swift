/// The part of the Bash script that is the same for every tool except for `NAME`.
enum BashReader {
    static let script = [complete, line, reply].joined(separator: "\n\n")

    private static let complete = #"""
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
        """#

    private static let line = #"""
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
        """#

    private static let reply = #"""
        # Offers what begins with $3, as far as Bash will replace what is typed.
        NAME_reply() {
            local kind=${1%% *} typed=$2$3
            COMPREPLY=()
            case $kind in
            choices) mapfile -t COMPREPLY < <(compgen -W "${1#choices}" -- "$3") ;;
            lines)
                # shellcheck disable=SC2046
                mapfile -t COMPREPLY < <(compgen -W "$(${1#lines } 2>/dev/null)" -- "$3")
                ;;
            command)
                NAME_node "$operands"
                if [[ -z $operands ]]; then words+=${1#command}; fi
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$3")
                ;;
            file | directory)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -A "$kind" -- "$3")
                ;;
            secret)
                if [[ $3 == @* ]]; then
                    compopt -o filenames 2>/dev/null
                    mapfile -t COMPREPLY < <(compgen -P @ -A file -- "${3#@}")
                fi
                ;;
            esac
            # After '--option=' the last word is '=' itself, and stays.
            if [[ ${#last} == 1 && $COMP_WORDBREAKS == *"$last"* ]]; then last=''; fi
            local stem=${typed%"$last"}
            COMPREPLY=("${COMPREPLY[@]/#/$2}")
            COMPREPLY=("${COMPREPLY[@]#"$stem"}")
        }
        """#
}
