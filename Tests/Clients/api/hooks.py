"""What schemathesis cannot make up: codes, tokens and names that only Apple and the configuration
know. Requests that the document allows get genuine ones, and then have to succeed; requests that it
forbids are sent as they are."""

import json
import os
import urllib.request

import schemathesis

APPLE, API, TOKEN = (os.environ[name] for name in ("SIWA_EMULATOR_URL", "SIWA_API", "SIWA_TOKEN"))
CLIENT = "com.example.app"


def post(url, body):
    fields = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(url, json.dumps(body).encode(), fields)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def sign_in(nonce=None):
    """A code and the identity token that came with it."""
    demand = {"client_id": CLIENT, "user": "alice"} | ({"nonce": nonce} if nonce else {})
    return post(f"{APPLE}/emulator/codes", demand)


def exchanged(**more):
    return post(f"{API}/v1/exchange", {"code": sign_in()["code"]} | more)


def exchange(body):
    genuine = sign_in(body.get("nonce"))
    # Apple knows neither of them from this sign-in.
    for name in ("redirect_uri", "code_verifier"):
        body.pop(name, None)
    return genuine | {"client_id": CLIENT}


def refresh(body):
    if "token" in body:
        return {"token": exchanged(store=False)["refresh_token"], "client_id": CLIENT}
    return {"user_id": exchanged()["user_id"], "client_id": CLIENT}


def revoke(body):
    if "code" in body:
        return {"code": sign_in()["code"], "client_id": CLIENT}
    return refresh(body)


BODIES = {"/v1/exchange": exchange, "/v1/refresh": refresh, "/v1/revoke": revoke}


@schemathesis.hook
def before_call(context, case, **kwargs):
    if not case.meta.generation.mode.is_positive:
        return
    # JSON Schema counts characters, and the vault bytes.
    for values in (case.path_parameters, case.query):
        if values and len(str(values.get("user_id", "")).encode()) > 255:
            values["user_id"] = "alice"
    if case.path in BODIES:
        for name, value in BODIES[case.path](case.body).items():
            if name in case.body:
                case.body[name] = value
    elif case.path == "/v1/secret":
        genuine = {"profile": "app", "lifetime": "10m"}
        case.query = {name: genuine[name] for name in case.query or {}}
    elif case.path == "/v1/events":
        # A cursor of this database, and a wait that is shorter than the longest answer may take.
        genuine = {"after": "0", "wait": "1s"}
        case.query = {name: genuine.get(name, value) for name, value in (case.query or {}).items()}
