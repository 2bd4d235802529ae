"""A transfer of websites made with django-allauth and python-social-auth, by real sign-ins.

A user signs in with the old team; the app is transferred; the plan runs; the same account must answer
when the user signs in with the new team, whose identity tokens have the new id.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import djangosite

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Harness"))
from emulator import Emulator

SITES = {
    "allauth": ("django-allauth", "socialaccount_socialaccount", "https://example.com/accounts/apple/login/callback/"),
    "social_django": ("python-social-auth", "social_auth_usersocialauth", "https://example.com/complete/apple-id/"),
}


def enter():
    """Goes on in a network of its own, in which appleid.apple.com is this machine."""
    if "SIWA_MIGRATIONS_INSIDE" in os.environ:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        hosts = pathlib.Path(tempfile.mkdtemp()) / "hosts"
        hosts.write_text("127.0.0.1 localhost appleid.apple.com\n")
        subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
        return
    os.environ["SIWA_MIGRATIONS_INSIDE"] = "1"
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", *user, "--net", "--mount", "--", sys.executable, *sys.argv])


class Apple(Emulator):
    """The emulator, as appleid.apple.com."""

    def __init__(self, folder, products, callback):
        super().__init__(products, pathlib.Path(folder) / "apple", "--port", "443")
        for client in self.state["clients"]:
            if client["kind"] == "web":
                client["redirect_uris"].append(callback)
        self.save()
        self.users = [user["sub"] for user in self.state["users"].values()]
        self.recipient = self.state["recipient"]["team_id"]
        self.process = self.start("--tls", "--port", "443")

    def environment(self):
        authority = str(self.folder / "ca.pem")
        return {"SIWA_CONFIG": str(self.folder / "config.json"), "SSL_CERT_FILE": authority,
                "REQUESTS_CA_BUNDLE": authority, "PATH": "/usr/bin:/bin", "HOME": str(self.folder)}

    def run(self, program, *words):
        result = subprocess.run([self.products / program, *words], env=self.environment(),
                                capture_output=True, text=True)
        assert result.returncode in (0, 1), result
        return result.stdout

    def team(self, profile):
        found = json.loads((self.folder / "config.json").read_text())["profiles"][profile]
        return {"team_id": found["team_id"], "key_id": found["key_id"], "client_id": "com.example.web",
                "key": (self.folder / found["private_key"]).read_text()}

    def transfer(self):
        """The ids of all users for both teams, as the import's output."""
        import ssl
        import urllib.request

        (self.folder / "users").write_text("".join(user + "\n" for user in self.users))
        self.run("siwa", "migrate", "export", "--profile", "web", "--to-team", self.recipient, "--input",
                 self.folder / "users", "--output", self.folder / "export.jsonl")
        request = urllib.request.Request(
            "https://localhost/emulator/transfer", b"{}", {"Content-Type": "application/json"})
        urllib.request.urlopen(
            request, context=ssl.create_default_context(cafile=self.folder / "ca.pem")).close()
        self.run("siwa", "migrate", "import", "--profile", "recipient", "--client-id", "com.example.web",
                 "--input", self.folder / "export.jsonl", "--output", self.folder / "import.jsonl")
        lines = (self.folder / "import.jsonl").read_text().splitlines()
        return {line["old_user_id"]: line for line in map(json.loads, lines) if line["status"] == "done"}


def sign_in(database, apple, app, team, user):
    picture = apple.folder / "account.json"
    djangosite.run(database, app, "sign-in", user, str(picture),
                   env={**apple.environment(), "SITE_TEAM": json.dumps(apple.team(team))})
    return json.loads(picture.read_text())


def check(database, products, note):
    for app, (recipe, table, callback) in SITES.items():
        with tempfile.TemporaryDirectory() as folder:
            apple = Apple(folder, products, callback)
            try:
                check_site(database, apple, app, recipe, table, note)
            finally:
                apple.process.terminate()
                apple.process.wait()


def check_site(database, apple, app, recipe, table, note):
    database.fresh()
    djangosite.migrate(database, app)
    before = {user: sign_in(database, apple, app, "web", user) for user in ["alice", "bob"]}
    assert before["alice"]["account"] != before["bob"]["account"]
    moved = apple.transfer()
    stored = {row[0] for row in database.rows(f"SELECT uid FROM {table}")}
    assert len(stored) == 2 and stored <= set(moved), (stored, moved)
    script = apple.folder / "plan.sql"
    script.write_text(apple.run(
        "siwa", "migrate", "plan", "--recipe", recipe, "--dialect", database.dialect, "--match", "old_user_id",
        "--commit", "--inverse", apple.folder / "inverse.sql", apple.folder / "import.jsonl"))
    print(database.run(script), file=sys.stderr)
    after = {user: sign_in(database, apple, app, "recipient", user) for user in ["alice", "bob"]}
    for user in before:
        assert after[user]["account"] == before[user]["account"], (user, before, after)
    ids = {row[0] for row in database.rows(f"SELECT uid FROM {table}")}
    assert ids == {moved[old]["user_id"] for old in stored}, (ids, moved)
    accounts = database.rows("SELECT COUNT(*) FROM auth_user")
    assert accounts == [["2"]], accounts
    addresses = {row[0] for row in database.rows("SELECT email FROM auth_user")}
    relays = {line["email"] for line in moved.values() if "email" in line}
    assert len(addresses & relays) == 1, (addresses, relays)
    note(database.dialect, f"a site made with {recipe}", "the same accounts answer after real sign-ins")
