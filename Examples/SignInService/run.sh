#!/usr/bin/env bash
# Runs the example against the emulator, over TLS: run.sh EXAMPLE FOLDER-OF-EXECUTABLES
set -euo pipefail
example=$(realpath "$1")
PATH=$(cd "$2" && pwd):$PATH

work=$(mktemp -d)
emulator=
finish() {
    [[ -z $emulator ]] || kill "$emulator" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

siwa-emulator init "$work/apple" >/dev/null
siwa-emulator serve "$work/apple" --tls --port 0 --ready-file "$work/ready" >"$work/log" 2>&1 &
emulator=$!
for _ in $(seq 300); do
    [[ ! -s $work/ready ]] || break
    kill -0 "$emulator" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
done
url=$(<"$work/ready")

setting() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$work/apple/config.json" | head -n 1; }
export TEAM_ID KEY_ID CLIENT_ID=com.example.app BASE_URL=$url CA_FILE=$work/apple/ca.pem
TEAM_ID=$(setting team_id)
KEY_ID=$(setting key_id)
export KEY_FILE=$work/apple/AuthKey_$KEY_ID.p8 VAULT=$work/vault.db
code=$(curl --silent --show-error --fail --cacert "$CA_FILE" "$url/emulator/codes" \
    -d '{"client_id":"com.example.app"}' | sed 's/.*"code": *"\([^"]*\)".*/\1/')

# Apple's keys being away costs no sign-in.
curl --silent --show-error --fail --cacert "$CA_FILE" "$url/emulator/faults" \
    -d '{"endpoint":"/auth/keys","status":503,"count":99}' >/dev/null
# The same code twice: Apple refuses the second.
printf '%s\n%s\n' "$code" "$code" | "$example" | tee "$work/out"
grep -q '^signed in: ' "$work/out"
grep -qx 'revoked: refresh_accepted_then_rejected' "$work/out"
grep -q '^refused: .*invalid_grant' "$work/out"
printf 'the example signed a user in, stored the token and deleted the account\n'
