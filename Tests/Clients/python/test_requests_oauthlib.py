"""requests-oauthlib: the whole life of a token."""

from conftest import CALLBACK
from requests_oauthlib import OAuth2Session
from sign_in import sign_in


def test_signs_in_refreshes_and_revokes(team, refused):
    client = {"client_id": team.client_id, "client_secret": team.secret()}
    session = OAuth2Session(team.client_id, redirect_uri=CALLBACK, scope=["name", "email"])
    url, state = session.authorization_url(
        "https://appleid.apple.com/auth/authorize", response_mode="form_post"
    )
    callback = sign_in(url)
    assert callback["state"] == state
    token = session.fetch_token(
        "https://appleid.apple.com/auth/token",
        code=callback["code"],
        client_secret=client["client_secret"],
        include_client_id=True,
    )
    assert token["token_type"] == "Bearer" and token["id_token"].startswith("eyJ")
    refreshed = session.refresh_token("https://appleid.apple.com/auth/token", **client)
    assert refreshed["refresh_token"] == token["refresh_token"], "Apple sends none: the old one stays"
    answer = session.post(
        "https://appleid.apple.com/auth/revoke",
        data={**client, "token": token["refresh_token"], "token_type_hint": "refresh_token"},
    )
    assert (answer.status_code, answer.content) == (200, b"")
    assert refused(team, token["refresh_token"])
