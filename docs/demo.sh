#!/usr/bin/env bash
# The main job against the emulator, over real TLS sockets: docs/demo.sh FOLDER-OF-EXECUTABLES
set -euo pipefail
PATH=$(cd "$1" && pwd):$PATH

work=$(mktemp -d)
emulator=
server=
finish() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    [[ -z $emulator ]] || kill "$emulator" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# Shows a command as one would type it, then runs it.
run() {
    printf '$ %s\n' "$*"
    "$@"
}
[[ -t 1 && -z ${NO_COLOR:-} ]] || step() { printf '\n%s\n' "$*"; }
unset "${!SIWA_@}"

step 'A local Apple: a fresh key, a configuration for siwa, a server with its own certificate'
run siwa-emulator init "$work/apple"
siwa-emulator serve "$work/apple" --tls --port 0 --ready-file "$work/ready" >"$work/log" 2>&1 &
emulator=$!
for _ in $(seq 100); do
    [[ ! -s $work/ready ]] || break
    kill -0 "$emulator" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
done
url=$(<"$work/ready")
printf 'the emulator listens on %s\n' "$url"
export SIWA_CONFIG=$work/apple/config.json SIWA_BASE_URL=$url XDG_CACHE_HOME=$work/cache

step '1. Mint a client_secret'
run siwa secret --json

step '2. A user signs in; exchange the authorization code for tokens'
code=$(curl --silent --show-error --fail --cacert "$work/apple/ca.pem" "$url/emulator/codes" \
    --data '{"client_id":"com.example.app"}' | sed 's/.*"code": *"\([^"]*\)".*/\1/')
printf '%s\n' "$code" >"$work/code"
run siwa exchange --code "@$work/code" | tee "$work/tokens"
token=$(sed -n 's/.*"refresh_token": *"\([^"]*\)".*/\1/p' "$work/tokens")
(umask 077 && printf '%s\n' "$token" >"$work/refresh-token")

step "3. Is the identity token Apple's, and for this app?"
(umask 077 && sed -n 's/.*"id_token": *"\([^"]*\)".*/\1/p' "$work/tokens" >"$work/id-token")
run siwa verify "@$work/id-token" --print valid

step '4. A day later: is the refresh token still good?'
run siwa refresh --token "@$work/refresh-token"

step '5. The user deletes the account: revoke, and prove it'
run siwa revoke --token "@$work/refresh-token" --check-first

step '6. The token is dead: Apple says so, and the exit code does'
status=0
run siwa refresh --token "@$work/refresh-token" || status=$?
printf 'exit code %s\n' "$status"
[[ $status == 5 ]]

step '7. Everything that could be wrong, looked at in order'
run siwa doctor --online

step '8. A server beside the app: it receives what Apple posts, and has an API for the app'
export SIWA_VAULT_URL=sqlite:$work/vault.db
run siwa vault init --quiet --print url
sed '1s|{|{"server":{"notifications":{"listen":"127.0.0.1:0"},"api":{"listen":"unix:'"$work"'/api.sock"},"metrics":{"listen":"127.0.0.1:0"}},|' \
    "$work/apple/config.json" >"$work/apple/server.json"
SIWA_CONFIG=$work/apple/server.json siwa-server serve 2>"$work/server.log" &
server=$!
for _ in $(seq 100); do
    ! grep -q '"event":"started"' "$work/server.log" || break
    kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
    sleep 0.1
done
listener() { sed -n "s/.*\"started\".*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/server.log"; }
printf 'siwa-server listens for Apple on %s, and for the app on %s\n' \
    "$(listener notifications)" "$(listener api)"

# Signs a user of the emulator in, and answers the code.
code() {
    curl --silent --show-error --fail --cacert "$work/apple/ca.pem" "$url/emulator/codes" \
        --data '{"client_id":"com.example.app"}' | sed 's/.*"code": *"\([^"]*\)".*/\1/'
}
# What the app does: PATH BODY.
api() {
    printf "$ curl --unix-socket %s http://siwa%s --json '%s'\n" "$work/api.sock" "$1" "$2"
    curl --silent --show-error --fail --unix-socket "$work/api.sock" "http://siwa$1" \
        --header 'Content-Type: application/json' --data "$2" | tee "$work/answer"
    printf '\n'
}

step '9. A user signs in: the app posts the code, and never handles the refresh token'
api /v1/exchange "{\"code\": \"$(code)\"}"
user=$(sed -n 's/.*"user_id": *"\([^"]*\)".*/\1/p' "$work/answer")
grep -q '"stored": *true' "$work/answer"

step '10. The user deletes the account in the app: one call revokes, with proof'
api /v1/revoke "{\"user_id\": \"$user\"}"
grep -q '"evidence": *"refresh_accepted_then_rejected"' "$work/answer"
run siwa vault history "$user"

step '11. A user signs in again, and deletes the account at Apple, which posts a notification'
api /v1/exchange "{\"code\": \"$(code)\"}"
sleep 1.1 # Within the same second, the sign-in would count as later than the event.
curl --silent --show-error --fail --cacert "$work/apple/ca.pem" "$url/emulator/notifications" \
    --data '{"type":"account-delete","attempts":1,"count":1,"url":"http://'"$(listener notifications)"'/apple/notifications"}'
printf '\n'
run siwa inbox list
run siwa vault list
siwa vault list --state account_deleted --json | grep -q account_deleted
printf '$ curl http://%s/metrics | grep notifications\n' "$(listener metrics)"
curl --silent --show-error --fail "http://$(listener metrics)/metrics" >"$work/metrics"
grep '^siwa_notifications_total.* [1-9]' "$work/metrics"
kill "$server"
wait "$server"
server=

step 'Done: secret, exchange, verify, refresh, revoke, a server with an API, notifications; all without Apple.'
