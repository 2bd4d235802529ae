"""social-auth-core: its Apple backend, with a strategy that needs no web framework."""

from conftest import CALLBACK
from sign_in import sign_in
from social_core.backends.apple import AppleIdAuth
from social_core.storage import BaseStorage
from social_core.strategy import BaseStrategy


class Storage(BaseStorage):
    """A database that forgets at once."""

    class nonce:
        @staticmethod
        def use(server_url, timestamp, salt):
            return True

        consume = use


class Strategy(BaseStrategy):
    """One visitor's session, and settings in memory."""

    def __init__(self, settings):
        super().__init__(storage=Storage)
        self.settings, self.session, self.request = settings, {}, {}

    def get_setting(self, name):
        return self.settings[name]

    def request_data(self, merge=True):
        return self.request

    def session_get(self, name, default=None):
        return self.session.get(name, default)

    def session_set(self, name, value):
        self.session[name] = value

    def session_pop(self, name):
        return self.session.pop(name, None)

    def build_absolute_uri(self, path=None):
        return CALLBACK

    def authenticate(self, backend, *args, **kwargs):
        return kwargs["response"]


def test_signs_in(team):
    strategy = Strategy(
        {
            "SOCIAL_AUTH_APPLE_ID_CLIENT": team.client_id,
            "SOCIAL_AUTH_APPLE_ID_TEAM": team.team_id,
            "SOCIAL_AUTH_APPLE_ID_KEY": team.key_id,
            "SOCIAL_AUTH_APPLE_ID_SECRET": team.key,
            "SOCIAL_AUTH_APPLE_ID_SCOPE": ["name", "email"],
        }
    )
    url = AppleIdAuth(strategy, redirect_uri=CALLBACK).auth_url()
    strategy.request = sign_in(url)
    backend = AppleIdAuth(strategy, redirect_uri=CALLBACK)
    response = backend.auth_complete()
    assert response["aud"] == team.client_id and response["email_verified"] is True
    details = backend.get_user_details(response)
    assert details["email"] == "alice@example.com"
