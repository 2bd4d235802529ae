#!/usr/bin/env bash
# Runs the example against the emulator, over TLS: run.sh EXAMPLE FOLDER-OF-EXECUTABLES
set -euo pipefail
example=$(realpath "$1")
PATH=$(cd "$2" && pwd):$PATH

work=$(mktemp -d)
pids=()
finish() {
    ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# wait_for FILE PID LOG: until the program has written its address there.
wait_for() {
    for _ in $(seq 300); do
        [[ ! -s $1 ]] || return 0
        kill -0 "$2" 2>/dev/null || { cat "$3" >&2; exit 1; }
        sleep 0.1
    done
    cat "$3" >&2
    exit 1
}

siwa-emulator init "$work/apple" >/dev/null
siwa-emulator serve "$work/apple" --tls --port 0 --ready-file "$work/ready" >"$work/log" 2>&1 &
pids+=($!)
wait_for "$work/ready" $! "$work/log"
apple=$(<"$work/ready")

setting() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$work/apple/config.json" | head -n 1; }
TEAM_ID=$(setting team_id)
KEY_ID=$(setting key_id)
export TEAM_ID KEY_ID CLIENT_ID=com.example.app WEB_CLIENT_ID=com.example.web BASE_URL=$apple
export REDIRECT_URI=https://example.com/callback CA_FILE=$work/apple/ca.pem
export KEY_FILE=$work/apple/AuthKey_$KEY_ID.p8 VAULT=$work/vault.db
"$example" >"$work/out" 2>"$work/errors" &
pids+=($!)
wait_for "$work/out" $! "$work/errors"
service=$(head -n 1 "$work/out")

# A client that trusts the emulator; what a browser or an app would send.
fetch() { curl --silent --show-error --cacert "$CA_FILE" "$@"; }
control() { fetch --fail "$apple/emulator/$1" -d "${2:-{\}}"; }
cookie() { sed -n "s/^Set-Cookie: \($1=[^;]*\).*/\1/p" "$2" | tr -d '\r'; }
expect() { grep -q -- "$1" "$2" || { echo "missing in $2: $1" >&2; cat "$2" "$work/out" "$work/errors" >&2; exit 1; }; }

# In the app. Apple's keys being away costs no sign-in, and a code works once.
code=$(control codes '{"client_id": "com.example.app"}' | sed 's/.*"code": *"\([^"]*\)".*/\1/')
control faults '{"endpoint": "/auth/keys", "status": 503, "count": 99}' >/dev/null
fetch -D "$work/head" -o "$work/signed-in" "$service/app/sign-in" --data-urlencode "code=$code"
expect '^signed in: ' "$work/signed-in"
app_session=$(cookie session "$work/head")
fetch -o "$work/again" "$service/app/sign-in" --data-urlencode "code=$code"
expect 'invalid_grant' "$work/again"
control faults/clear >/dev/null

# On the web: Apple's page, and the form that it lets the browser post.
fetch -D "$work/head" -o /dev/null "$service/web/sign-in"
location=$(sed -n 's/^Location: //p' "$work/head" | tr -d '\r')
browser=$(cookie sign_in "$work/head")
inputs() {
    sed 's/<input /\n&/g' "$1" |
        sed -n 's/^<input type="hidden" name="\([^"]*\)" value="\([^"]*\)".*/\1=\2/p' |
        sed 's/&quot;/"/g; s/&#39;/'"'"'/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
}
fetch -o "$work/page" "$location"
fetch -o "$work/posted" "$apple/auth/authorize/consent" -d action=continue -d user=alice \
    -d email=hide --data-urlencode "$(inputs "$work/page" | grep '^transaction=')"
form=()
while IFS= read -r input; do form+=(--data-urlencode "$input"); done < <(inputs "$work/posted")
# Another browser's sign-in: nothing is sent to Apple.
fetch -o "$work/stranger" "$service/callback" "${form[@]}"
expect 'began no sign-in' "$work/stranger"
fetch -D "$work/head" -o "$work/web" -b "$browser" "$service/callback" "${form[@]}"
cmp "$work/signed-in" "$work/web"
web_session=$(cookie session "$work/head")

# Apple posts that the user stopped using the app; a forged notification is refused.
fetch -o "$work/forged" "$service/notifications" -d '{"payload": "a.b.c"}'
expect '^refused: ' "$work/forged"
fetch -o "$work/user" -b "$web_session" "$service/user"
[[ $(<"$work/user") == "{\"id\": \"$(sed 's/^signed in: //' "$work/signed-in")\"}" ]]
control notifications "{\"type\": \"consent-revoked\", \"url\": \"$service/notifications\"}" >"$work/sent"
# The outage of Apple's keys is just over: after ten seconds they are fetched again. Meanwhile the
# answer is 503, and Apple sends the notification again.
for _ in $(seq 20); do
    ! grep -q '"status": *200' "$work/sent" || break
    sleep 1
    control notifications/resend "{\"number\": 1, \"url\": \"$service/notifications\"}" >"$work/sent"
done
expect '"status": *200' "$work/sent"
fetch -o "$work/user" -b "$web_session" "$service/user"
expect '^nobody' "$work/user"

# The user comes back, and deletes the account: the tokens of the app and of the website.
code=$(control codes '{"client_id": "com.example.app"}' | sed 's/.*"code": *"\([^"]*\)".*/\1/')
fetch -o /dev/null "$service/app/sign-in" --data-urlencode "code=$code"
fetch -o "$work/deleted" -b "$app_session" "$service/account/delete" -d ''
expect '^deleted: ' "$work/deleted"
sleep 1.2
expect '^revoked: refresh_accepted_then_rejected' "$work/out"
expect '^notification: consent-revoked' "$work/out"

# What the example must refuse: wrong tokens, requests, callbacks and notifications.
sed "s|APP|$service|; s|CA_FILE|$CA_FILE|" "$(dirname "$0")/backend.json" >"$work/backend.json"
siwa-emulator conform "$work/backend.json" --emulator "$apple" --fail-on medium \
    --skip T71=waits >"$work/conform" ||
    { cat "$work/conform" "$work/errors" >&2; exit 1; }
tail -n 2 "$work/conform"
printf 'the example signed a user in, in the app and on the web, took a notification and deleted the account\n'
