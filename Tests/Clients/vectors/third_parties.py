"""Gives the identity tokens of a document to verifiers of other people, each called as its own documentation
says, and prints a row for each: what must be refused and is accepted, and the reverse.

    third_parties.py vectors.json
"""

import hashlib
import importlib.metadata
import json
import sys


def pyjwt(group, test):
    import jwt

    kid = jwt.get_unverified_header(test["token"]).get("kid")
    keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(group["jwks"]).keys}
    return jwt.decode(test["token"], keys[kid], algorithms=["RS256"], audience=group["audiences"], issuer=group["issuer"])


def pyjwt_strict(group, test):
    import jwt

    kid = jwt.get_unverified_header(test["token"]).get("kid")
    keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(group["jwks"]).keys}
    options = {"require": ["exp", "iat", "iss", "aud", "sub"], "strict_aud": True}
    return jwt.decode(test["token"], keys[kid], algorithms=["RS256"], audience=group["audiences"][0],
                      issuer=group["issuer"], options=options)


def authlib(group, test):
    from authlib.jose import JsonWebKey, JsonWebToken

    claims = JsonWebToken(["RS256"]).decode(
        test["token"], JsonWebKey.import_key_set(group["jwks"]),
        claims_options={"iss": {"essential": True, "value": group["issuer"]},
                        "aud": {"essential": True, "values": group["audiences"]},
                        "exp": {"essential": True}, "sub": {"essential": True}})
    claims.validate()
    return claims


def joserfc(group, test):
    from joserfc import jwt
    from joserfc.jwk import KeySet

    token = jwt.decode(test["token"], KeySet.import_key_set(group["jwks"]), algorithms=["RS256"])
    jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": group["issuer"]}, aud={"essential": True, "values": group["audiences"]},
        exp={"essential": True}, sub={"essential": True}).validate(token.claims)
    return token.claims


def python_jose(group, test):
    from jose import jwt

    return jwt.decode(test["token"], group["jwks"], algorithms=["RS256"], audience=group["audiences"][0],
                      issuer=group["issuer"], options={"verify_at_hash": False})


def social_auth(group, test):
    import json as text
    from unittest.mock import patch

    from social_core.backends.apple import AppleIdAuth

    class Strategy:
        def setting(self, name, default=None, backend=None):
            return {"CLIENT": group["audiences"][0], "AUDIENCE": group["audiences"]}.get(name, default)

        def get_setting(self, name):
            raise KeyError(name)

    backend = AppleIdAuth.__new__(AppleIdAuth)
    backend.strategy = Strategy()
    keys = group["jwks"]["keys"]
    # Its requests for Apple's key set get that of the group.
    with patch.object(AppleIdAuth, "get_json", lambda self, url, **kw: text.loads(text.dumps({"keys": keys}))):
        claims = backend.decode_id_token(test["token"])
    return claims


def allauth(group, test):
    from unittest.mock import patch

    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            SECRET_KEY="x" * 50, INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth",
                                                 "django.contrib.sessions", "allauth", "allauth.account",
                                                 "allauth.socialaccount", "allauth.socialaccount.providers.apple"],
            MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"], CACHES={})
        django.setup()
    from allauth.socialaccount.internal import jwtkit

    class Answer:
        @staticmethod
        def raise_for_status():
            pass

        @staticmethod
        def json():
            return group["jwks"]

    class Session:
        def __enter__(self):
            return self

        def __exit__(self, *rest):
            pass

        def get(self, url, **kw):
            return Answer

    class Adapter:
        @staticmethod
        def get_requests_session():
            return Session()

    with patch.object(jwtkit, "get_adapter", lambda *rest: Adapter):
        return jwtkit.verify_and_decode(
            credential=test["token"], keys_url="https://appleid.apple.com/auth/keys", issuer=group["issuer"],
            audience=group["audiences"], lookup_kid=jwtkit.lookup_kid_jwk)


VERIFIERS = [
    ("PyJWT", "PyJWT", pyjwt), ("PyJWT, `require` and `strict_aud`", "PyJWT", pyjwt_strict),
    ("Authlib", "Authlib", authlib), ("joserfc", "joserfc", joserfc), ("python-jose", "python-jose", python_jose),
    ("python-social-auth", "social-auth-core", social_auth), ("django-allauth", "django-allauth", allauth),
]
# What a library that is not told the nonce, the code and the access token cannot know.
CALLERS = {"T40", "T41", "T43", "T44", "T50", "T51", "T52", "T56"}


def row(name, version, judge, document):
    accepted, refused, given = {}, {}, 0
    for group in document["testGroups"]:
        for test in group["tests"] if group["type"] == "identity-token" else []:
            if set(test["flags"]) & CALLERS or test["result"] == "acceptable":
                continue
            given += 1
            try:
                judge(group, test)
                is_accepted = True
            except Exception as error:  # noqa: BLE001: any error is a refusal
                is_accepted = False
                if test["result"] == "valid":
                    print(name, repr(error)[:200], file=sys.stderr)
            if is_accepted != (test["result"] == "valid"):
                (accepted if is_accepted else refused).setdefault("".join(test["flags"]), []).append(test["comment"])
    return name, version, given, accepted, refused


def main():
    document = json.load(open(sys.argv[1]))
    for name, package, judge in VERIFIERS:
        name, version, given, accepted, refused = row(name, importlib.metadata.version(package), judge, document)
        print(f"| {name} | {version} | {', '.join(sorted(accepted)) or 'none'} | {', '.join(sorted(refused)) or 'none'} |")
        if "-v" in sys.argv:
            for flag, comments in sorted(accepted.items()):
                print("   ", flag, "; ".join(comments))


main()
