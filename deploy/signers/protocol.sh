# The protocol of siwa's signers, for the scripts of this folder, which read it: it is not a program.
#
# siwa writes lines name=value and an empty line; a signer answers with signature=, or error=, and an
# empty line (docs/signers.md). The exit code says the same as error=, because over a socket siwa sees
# the one, and of a program the other. Standard error is a hint for people: no secret belongs there.
# shellcheck shell=sh

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# give_up later|denied|failed MESSAGE: answers that there is no signature. A signer that was denied is
# not asked again: a token may lock after three wrong PINs.
give_up() {
    printf '%s: %s\n' "${0##*/}" "$2" >&2
    printf 'error=%s\n\n' "$1"
    case $1 in later) exit 75 ;; denied) exit 77 ;; *) exit 1 ;; esac
}

# Reads the question into key_id, and into digest and message, both in base64.
read_question() {
    operation='' algorithm='' key_id='' digest='' message=''
    while IFS= read -r line && [ -n "$line" ]; do
        case $line in
        operation=*) operation=${line#*=} ;;
        algorithm=*) algorithm=${line#*=} ;;
        key_id=*) key_id=${line#*=} ;;
        digest=*) digest=${line#*=} ;;
        message=*) message=${line#*=} ;;
        esac
    done
    [ "$operation $algorithm" = 'sign ES256' ] || give_up failed 'it can only sign, with ES256'
    for value in "$digest" "$message"; do
        case $value in *[!A-Za-z0-9+/=]* | '') give_up failed 'the question is not whole' ;; esac
    done
}

# answer BASE64: r and s, or DER, in base64 or base64url.
answer() {
    [ -n "$1" ] || give_up failed 'it got no signature'
    printf 'signature=%s\n\n' "$1"
}

# need PROGRAM…: fails if one is not installed.
need() {
    for program in "$@"; do
        command -v "$program" >/dev/null || give_up failed "$program is not installed"
    done
}

# read_secret FILE: reads the first line of a file that the configuration names into secret.
read_secret() {
    secret=''
    [ -r "$1" ] || give_up denied "cannot read the file $1"
    IFS= read -r secret <"$1" || [ -n "$secret" ] || give_up denied "the file $1 is empty"
}

# complaint KIND: gives up with the first line that a tool wrote to $work/errors.
complaint() {
    give_up "$1" "$(head -c 300 "$work/errors" | tr '\n' ' ')"
}

# curl_json: sends what standard input says in curl's own format, so that no secret is on a command
# line. The body is in $work/body; gives up after a status that is not 200.
curl_json() {
    status=$(curl --silent --show-error --max-time 8 --connect-timeout 4 --config - \
        --output "$work/body" --write-out '%{http_code}' 2>"$work/errors") || complaint later
    case $status in
    200) ;;
    401 | 403) give_up denied "$1 answered $status" ;;
    408 | 429 | 5??) give_up later "$1 answered $status" ;;
    *) give_up failed "$1 answered $status" ;;
    esac
}

# member NAME: the text of a member of the JSON in $work/body whose value needs no escapes.
member() {
    tr -d '\n' <"$work/body" | sed -n "s/.*\"$1\"[[:space:]]*:[[:space:]]*\"\\([^\"\\\\]*\\)\".*/\\1/p"
}
