"""The emulator's folder, as a developer of a Python website has it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

CALLBACK = "https://example.com/callback"


class Team:
    """What Apple's developer portal gives a developer."""

    def __init__(self, folder):
        profile = json.loads((folder / "config.json").read_text())["profiles"]["web"]
        self.team_id = profile["team_id"]
        self.key_id = profile["key_id"]
        self.client_id = profile["client_id"]
        self.key = (folder / profile["private_key"]).read_text()

    def secret(self):
        """A client_secret, made by siwa."""
        command = [os.environ["SIWA"], "secret", "--profile", "web"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(autouse=True)
def fresh_emulator():
    """Every test begins with users who never signed in."""
    import requests

    assert requests.post("https://localhost/emulator/reset", timeout=10).json()["reset"]


@pytest.fixture
def team():
    return Team(pathlib.Path(os.environ["APPLE"]))


@pytest.fixture
def refused():
    """Whether Apple refuses a refresh token, and how."""
    import requests

    def ask(team, token):
        answer = requests.post(
            "https://appleid.apple.com/auth/token",
            data={
                "grant_type": "refresh_token",
                "refresh_token": token,
                "client_id": team.client_id,
                "client_secret": team.secret(),
            },
            timeout=10,
        )
        return answer.status_code == 400 and answer.json()["error"] == "invalid_grant"

    return ask
