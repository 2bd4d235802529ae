#!/bin/sh
# start.sh FOLDER WORK PORT [notify|deliver|tcp|unix]: makes a vault and a configuration in FOLDER, and becomes siwa-server.
#
#   notify   takes notifications on PORT
#   deliver  the same, and delivers them to SINK_PORT (18765); SINK, a command, is started as the application
#   tcp      the API on PORT; WORK/siwa-template/token has a token with the scope verify
#   unix     the API on FOLDER/api.sock
#
# WORK has Apple's key set, jwks.json. PROGRAMS is the folder of siwa and siwa-server; CLIENT is the client id.
set -eu
folder=$1 work=$2 port=$3 kind=${4:-notify}
programs=${PROGRAMS:?is the folder of siwa and siwa-server}
template=$work/siwa-template

notifications="\"notifications\": { \"listen\": \"127.0.0.1:$port\" }"
case $kind in
notify) listeners=$notifications ;;
deliver) listeners="$notifications,
    \"deliver\": { \"url\": \"http://127.0.0.1:${SINK_PORT:-18765}/\", \"secret_file\": \"$template/webhook.secret\" }" ;;
tcp) listeners="\"api\": { \"listen\": \"127.0.0.1:$port\" }" ;;
unix) listeners="\"api\": { \"listen\": \"unix:$folder/api.sock\" }" ;;
*) echo "start.sh: $kind is not notify, deliver, tcp or unix" >&2; exit 2 ;;
esac

configure() {
  cat > "$1/config.json" <<CONFIG
{ "vault": { "url": "sqlite:$1/vault.db", "key_file": "$1/vault.key" },
  "profiles": { "bench": {
    "team_id": "A1B2C3D4E5", "key_id": "K1L2M3N4P5", "private_key": "$template/AuthKey.p8",
    "client_id": "${CLIENT:-com.example.service}" } },
  "server": { "jwks_file": "$work/jwks.json",
    $listeners } }
CONFIG
}

# A vault with a token of the API, made once: each start has a copy.
if [ ! -f "$template/token" ]; then
  rm -rf "$template"
  mkdir -m 700 "$template"
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$template/AuthKey.p8" 2>/dev/null ||
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$template/AuthKey.p8"
  configure "$template"
  "$programs/siwa" --config "$template/config.json" vault init > /dev/null
  "$programs/siwa-server" webhook-secret --out "$template/webhook.secret"
  "$programs/siwa-server" token add bench --scope verify --config "$template/config.json" > "$template/token.new"
  mv "$template/token.new" "$template/token"
fi
cp "$template/vault.db" "$template/vault.key" "$folder/"
configure "$folder"
if [ "$kind" = deliver ] && [ -n "${SINK:-}" ]; then $SINK & fi
exec "$programs/siwa-server" serve --config "$folder/config.json"
