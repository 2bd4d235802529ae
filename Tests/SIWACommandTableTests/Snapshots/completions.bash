# Bash completion for siwa, made by 'siwa completions bash'.

# Sets what can follow the words $1; fails if they lead nowhere.
_siwa_node() {
    case "$1" in
    '')
        words='revoke public-key config completions manual help'
        flags='-p --profile --max-attempts -q --quiet -v --verbose -h --help -V --version'
        valued='-p --profile --max-attempts'
        ;;
    'revoke')
        words=''
        flags='-t --token --code -o --out --audience --confirm -p --profile --max-attempts -q --quiet -v --verbose -h --help -V --version'
        valued='-t --token --code -o --out --audience -p --profile --max-attempts'
        ;;
    'public-key')
        words=''
        flags='-f --format -p --profile --max-attempts -q --quiet -v --verbose -h --help -V --version'
        valued='-f --format -p --profile --max-attempts'
        ;;
    'config')
        words='show path'
        flags='-p --profile --max-attempts -q --quiet -v --verbose -h --help -V --version'
        valued='-p --profile --max-attempts'
        ;;
    'config show')
        words=''
        flags='--folder -p --profile --max-attempts -q --quiet -v --verbose -h --help -V --version'
        valued='--folder -p --profile --max-attempts'
        ;;
    'config path')
        words=''
        flags='-h --help -V --version'
        valued=''
        ;;
    'completions')
        words=''
        flags='-h --help -V --version'
        valued=''
        ;;
    'manual')
        words=''
        flags='-h --help -V --version'
        valued=''
        ;;
    'help')
        words=''
        flags=''
        valued=''
        ;;
    *) return 1 ;;
    esac
}

# Prints how the value of the option $2, or of the operand with that number, is completed.
_siwa_value() {
    case "$1 $2" in
    ' -p' | ' --profile') echo 'lines siwa config profiles' ;;
    'revoke -t' | 'revoke --token') echo 'secret' ;;
    'revoke --code') echo 'secret' ;;
    'revoke -o' | 'revoke --out') echo 'file' ;;
    'revoke -p' | 'revoke --profile') echo 'lines siwa config profiles' ;;
    'public-key -f' | 'public-key --format') echo 'choices pem jwk der-base64' ;;
    'public-key -p' | 'public-key --profile') echo 'lines siwa config profiles' ;;
    'public-key '1) echo 'file' ;;
    'config -p' | 'config --profile') echo 'lines siwa config profiles' ;;
    'config show --folder') echo 'directory' ;;
    'config show -p' | 'config show --profile') echo 'lines siwa config profiles' ;;
    'completions '1) echo 'choices bash zsh fish' ;;
    'manual '[0-9]*) echo 'command' ;;
    'help '[0-9]*) echo 'command options' ;;
    esac
}

_siwa() {
    local words flags valued node='' operands='' count=1 option='' ended='' word
    local -a line=()
    _siwa_line
    local cur=${line[-1]} last=${COMP_WORDS[COMP_CWORD]}
    unset 'line[-1]'
    _siwa_node ''
    for word in "${line[@]:1}"; do
        if [[ -n $option ]]; then
            option=''
        elif [[ -z $ended && $word == -- ]]; then
            ended=1
        elif [[ -z $ended && $word == -?* ]]; then
            if [[ " $valued " == *" $word "* ]]; then option=$word; fi
        elif [[ -z $ended$operands ]] && _siwa_node "${node:+$node }$word"; then
            node=${node:+$node }$word
        else
            operands+=${operands:+ }$word
            count=$((count + 1))
        fi
    done
    local prefix='' kind
    if [[ -n $option ]]; then
        kind=$(_siwa_value "$node" "$option")
    elif [[ -z $ended && $cur == --*=* ]]; then
        prefix=${cur%%=*}=
        kind=$(_siwa_value "$node" "${cur%%=*}")
    elif [[ -z $ended && $cur == -* ]]; then
        kind="choices $flags"
    elif [[ -z $ended$operands && -n $words ]]; then
        kind="choices $words"
    else
        kind=$(_siwa_value "$node" "$count")
    fi
    _siwa_reply "$kind" "$prefix" "${cur#"$prefix"}"
}

# Puts the words together again that Bash took apart at '=', ':' and '@': those without a
# blank before them.
_siwa_line() {
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
_siwa_reply() {
    local kind=${1%% *} typed=$2$3
    COMPREPLY=()
    case $kind in
    choices) mapfile -t COMPREPLY < <(compgen -W "${1#choices}" -- "$3") ;;
    lines)
        # shellcheck disable=SC2046
        mapfile -t COMPREPLY < <(compgen -W "$(${1#lines } 2>/dev/null)" -- "$3")
        ;;
    command)
        _siwa_node "$operands"
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
complete -F _siwa siwa
