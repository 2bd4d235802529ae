"""Authlib: the token's life, and its signature."""

import requests
from authlib.integrations.requests_client import OAuth2Session
from conftest import CALLBACK
from joserfc import jwt
from joserfc.jwk import KeySet
from sign_in import sign_in


def test_signs_in_verifies_refreshes_and_revokes(team, refused):
    session = OAuth2Session(
        team.client_id,
        team.secret(),
        token_endpoint_auth_method="client_secret_post",
        revocation_endpoint_auth_method="client_secret_post",
        redirect_uri=CALLBACK,
        scope="openid",
        code_challenge_method="S256",
    )
    verifier = "v" * 43
    url, state = session.create_authorization_url(
        "https://appleid.apple.com/auth/authorize", code_verifier=verifier, nonce="n-1"
    )
    callback = sign_in(url, "bob")
    assert callback["state"] == state
    token = session.fetch_token(
        "https://appleid.apple.com/auth/token", code=callback["code"], code_verifier=verifier
    )
    keys = KeySet.import_key_set(requests.get("https://appleid.apple.com/auth/keys").json())
    claims = jwt.decode(token["id_token"], keys, algorithms=["RS256"]).claims
    assert claims["iss"] == "https://appleid.apple.com" and claims["nonce"] == "n-1"
    assert claims["aud"] == team.client_id and "email" not in claims
    refreshed = session.refresh_token("https://appleid.apple.com/auth/token")
    assert refreshed["access_token"] != token["access_token"]
    answer = session.revoke_token(
        "https://appleid.apple.com/auth/revoke",
        token=token["refresh_token"],
        token_type_hint="refresh_token",
    )
    assert (answer.status_code, answer.content) == (200, b"")
    assert refused(team, token["refresh_token"])
