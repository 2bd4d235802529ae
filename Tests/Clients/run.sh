#!/usr/bin/env bash
# Runs other people's OAuth clients, unmodified, against siwa-emulator as https://appleid.apple.com:
#   Tests/Clients/run.sh PRODUCTS [CLIENT…]     all of them, or some: python ruby go php fixtures vectors conform sites
# PRODUCTS is the folder with siwa and siwa-emulator.
#
# They run in a network namespace of their own, which has only loopback: the name
# appleid.apple.com means this machine, and the only authority they trust is the emulator's.
# docs/testing-your-app.md has the same steps for your own CI.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
products=$(cd "$1" && pwd)
shift
clients=("$@")
((${#clients[@]})) || clients=(python ruby go php fixtures vectors conform sites)

if [[ -z ${SIWA_CLIENTS_INSIDE-} ]]; then
    as_root=()
    ((EUID == 0)) || as_root=(--map-root-user)
    export SIWA_CLIENTS_INSIDE=1
    exec unshare "${as_root[@]}" --net --mount -- "$0" "$products" "${clients[@]}"
fi

work=$(mktemp -d)
emulator=
stop() {
    [[ -z $emulator ]] || kill "$emulator" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT

ip link set lo up
printf '127.0.0.1 localhost appleid.apple.com\n' > "$work/hosts"
mount --bind "$work/hosts" /etc/hosts

"$products/siwa-emulator" init "$work/apple" --port 443 > /dev/null
# Where the clients' websites are.
sed -i 's|"https://example.com/callback"|"https://example.com/callback", "https://example.com/accounts/apple/login/callback/", "https://example.com/complete/apple-id/"|' \
    "$work/apple/emulator.json"
"$products/siwa-emulator" serve "$work/apple" --tls --port 443 --ready-file "$work/ready" \
    > "$work/emulator.log" 2>&1 &
emulator=$!
for _ in {1..100}; do
    [[ ! -s $work/ready ]] || break
    sleep 0.1
done
[[ -s $work/ready ]] || { cat "$work/emulator.log"; exit 1; }

authority=$work/apple/ca.pem
export SIWA_CONFIG=$work/apple/config.json SIWA_BASE_URL=https://appleid.apple.com
export SIWA=$products/siwa SIWA_EMULATOR=$products/siwa-emulator APPLE=$work/apple
export SIGN_IN="python3 $here/sign_in.py"
# OpenSSL's own (Python's ssl, httpx, Ruby, Go, .NET), Python's requests, curl, Node.
export SSL_CERT_FILE=$authority SSL_CERT_DIR=$work/none REQUESTS_CA_BUNDLE=$authority
export PYTHONDONTWRITEBYTECODE=1
export CURL_CA_BUNDLE=$authority NODE_EXTRA_CA_CERTS=$authority

python=${SIWA_CLIENTS_PYTHON:-python3}
passed=0 failed=0
# Runs one client: note NAME COMMAND…
note() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1)) && echo "passed: $name"
    else
        failed=$((failed + 1)) && echo "FAILED: $name"
    fi
}

run_python() {
    note 'social-auth-core, django-allauth, Authlib, requests-oauthlib' \
        "$python" -m pytest -q -p no:cacheprovider "$here/python"
}
run_ruby() { note 'Ruby oauth2' ruby "$here/ruby/client.rb"; }
run_php() { note 'PHP curl' php -d curl.cainfo="$authority" "$here/php/client.php"; }
# Debian's Go packages are sources under GOPATH.
run_go() {
    note 'Go x/oauth2 with golang-jwt' env GO111MODULE=off GOPATH=/usr/share/gocode \
        GOCACHE="${SIWA_CLIENTS_CACHE:-$work}/go" GOFLAGS= go run "$here/go/client.go"
}
run_fixtures() {
    note 'docs/testing-your-app.md' "$python" "$here/fixtures/check.py"
    note 'pytest fixture' "$python" -m pytest -q -p no:cacheprovider "$here/fixtures/pytest"
    note 'node:test fixture' node --test "$here/fixtures/node/"
    note 'Go fixture' env GO111MODULE=off GOCACHE="${SIWA_CLIENTS_CACHE:-$work}/go" \
        bash -c "cd '$here/fixtures/go' && go test -count=1 ."
}
run_vectors() {
    note 'the loops of docs/conformance.md' "$python" "$here/vectors/check.py" loops
    note "vectors, by other people's verifiers" "$python" "$here/vectors/check.py" third-parties
}
run_conform() {
    note "conform's sample backend with each of its bugs" \
        "$python" "$here/conform/check.py" "$SIWA_EMULATOR"
}

run_sites() {
    note 'conform against django-allauth, python-social-auth and a GraphQL server' "$python" "$here/conform/sites/check.py"
}

for client in "${clients[@]}"; do "run_$client"; done
echo "$passed passed, $failed failed"
((failed == 0))
