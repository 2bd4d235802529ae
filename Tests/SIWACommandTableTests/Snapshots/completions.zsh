#compdef siwa
# zsh completion for siwa, made by 'siwa completions zsh'.

# Offers the words that can follow the words $1.
_siwa_next() {
    local -a entries
    case $1 in
    '')
        entries=(
            'revoke:Revoke a refresh token or an access token.'
            'public-key:Print the public half of the key.'
            'config:show, path'
            'completions:Print the completions of a shell.'
            'manual:Print a manual page.'
            'help:Explain a command.'
        )
        ;;
    'config')
        entries=(
            'show:Print every setting and where it came from.'
            'path:Print which configuration file is in use.'
        )
        ;;
    esac
    _describe -t commands command entries
}

# Offers the next word of a command whose name is typed as operands.
_siwa_spoken() { _siwa_next "${(j: :)words[1,CURRENT-1]}" }

# Offers what 'help' explains: commands and topics.
_siwa_topics() {
    local -a topics=('options:Explain the options of every command.')
    ((CURRENT > 1)) || _describe -t topics topic topics
    _siwa_spoken
}

# After an '@', offers the files that a secret can be read from.
_siwa_secret() { compset -P @ && _files }

_siwa() {
    local curcontext=$curcontext state state_descr line
    typeset -A opt_args
    _arguments -s -S -C \
        '(-p --profile)-p+[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(-p --profile)--profile=[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(--max-attempts)--max-attempts=[How often to try.]:N: ' \
        '(-q --quiet)-q[Print only the result.]' \
        '(-q --quiet)--quiet[Print only the result.]' \
        '(-v --verbose)-v[Trace requests.]' \
        '(-v --verbose)--verbose[Trace requests.]' \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]' \
        '(-): :->word' \
        '(-)*:: :->rest'
    case $state in
    word) _siwa_next '' ;;
    rest)
        case $words[1] in
        revoke) _siwa__revoke ;;
        public-key) _siwa__public_key ;;
        config) _siwa__config ;;
        completions) _siwa__completions ;;
        manual) _siwa__manual ;;
        help) _siwa__help ;;
        esac
        ;;
    esac
}

_siwa__revoke() {
    _arguments -s -S \
        '(-t --token)-t+[The token to revoke.]:TOKEN:_siwa_secret' \
        '(-t --token)--token=[The token to revoke.]:TOKEN:_siwa_secret' \
        '(--code)--code=[A code to exchange first.]:CODE:_siwa_secret' \
        '(-o --out)-o+[Where the report goes.]:FILE:_files' \
        '(-o --out)--out=[Where the report goes.]:FILE:_files' \
        '*--audience=[A client that may be meant.]:ID: ' \
        '(--confirm)--confirm[Check afterwards, which needs a refresh token.]' \
        '(-p --profile)-p+[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(-p --profile)--profile=[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(--max-attempts)--max-attempts=[How often to try.]:N: ' \
        '(-q --quiet)-q[Print only the result.]' \
        '(-q --quiet)--quiet[Print only the result.]' \
        '(-v --verbose)-v[Trace requests.]' \
        '(-v --verbose)--verbose[Trace requests.]' \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]'
}

_siwa__public_key() {
    _arguments -s -S \
        '(-f --format)-f+[How to print it.]:FORMAT:(pem jwk der-base64)' \
        '(-f --format)--format=[How to print it.]:FORMAT:(pem jwk der-base64)' \
        '(-p --profile)-p+[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(-p --profile)--profile=[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(--max-attempts)--max-attempts=[How often to try.]:N: ' \
        '(-q --quiet)-q[Print only the result.]' \
        '(-q --quiet)--quiet[Print only the result.]' \
        '(-v --verbose)-v[Trace requests.]' \
        '(-v --verbose)--verbose[Trace requests.]' \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]' \
        '1:SOURCE:_files' \
        '2::LABEL: ' \
        '*:NOTE: '
}

_siwa__config() {
    local curcontext=$curcontext state state_descr line
    typeset -A opt_args
    _arguments -s -S -C \
        '(-p --profile)-p+[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(-p --profile)--profile=[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(--max-attempts)--max-attempts=[How often to try.]:N: ' \
        '(-q --quiet)-q[Print only the result.]' \
        '(-q --quiet)--quiet[Print only the result.]' \
        '(-v --verbose)-v[Trace requests.]' \
        '(-v --verbose)--verbose[Trace requests.]' \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]' \
        '(-): :->word' \
        '(-)*:: :->rest'
    case $state in
    word) _siwa_next 'config' ;;
    rest)
        case $words[1] in
        show) _siwa__config_show ;;
        path) _siwa__config_path ;;
        esac
        ;;
    esac
}

_siwa__config_show() {
    _arguments -s -S \
        '(--folder)--folder=[Where to look.]:DIR:_files -/' \
        '(-p --profile)-p+[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(-p --profile)--profile=[Which profile of the configuration to use.]:NAME:{compadd -- ${(f)"$(siwa config profiles 2>/dev/null)"}}' \
        '(--max-attempts)--max-attempts=[How often to try.]:N: ' \
        '(-q --quiet)-q[Print only the result.]' \
        '(-q --quiet)--quiet[Print only the result.]' \
        '(-v --verbose)-v[Trace requests.]' \
        '(-v --verbose)--verbose[Trace requests.]' \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]'
}

_siwa__config_path() {
    _arguments -s -S \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]'
}

_siwa__completions() {
    _arguments -s -S \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]' \
        '1:SHELL:(bash zsh fish)'
}

_siwa__manual() {
    _arguments -s -S \
        '(-h --help)-h[Print this help.]' \
        '(-h --help)--help[Print this help.]' \
        '(-V --version)-V[Print the version.]' \
        '(-V --version)--version[Print the version.]' \
        '*::COMMAND:_siwa_spoken'
}

_siwa__help() {
    _arguments -s -S \
        '*::COMMAND:_siwa_topics'
}

# Loaded by compinit, this file is the body of the function; sourced, it has to register it.
if [[ $funcstack[1] == _siwa ]]; then
    _siwa "$@"
else
    compdef _siwa siwa
fi
