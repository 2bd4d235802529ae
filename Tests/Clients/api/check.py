"""Tries siwa-server with two tools that others wrote: check.py PRODUCTS EXAMPLES

schemathesis sends what the OpenAPI document of the server allows and what it forbids, and holds the
answers against the document (hooks.py supplies what only Apple can issue). standardwebhooks verifies
what is delivered, also while one secret replaces another.

PRODUCTS is the folder with the programs; EXAMPLES is how many requests are made up for each call.
"""

import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

import standardwebhooks

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "Harness"))
from emulator import Emulator, eventually, post

SCOPES = ["exchange", "refresh", "revoke", "verify", "secret", "read", "reveal"]
SEED = "20260101"


class Installation:
    """An emulator, a vault, and a server beside them."""

    def __init__(self, products, folder):
        self.products, self.folder = pathlib.Path(products).resolve(), pathlib.Path(folder)
        emulator = Emulator(products, self.folder / "apple")
        self.emulator = emulator.start("--port", "0")
        self.apple = emulator.url
        os.environ["SIWA_CONFIG"] = str(self.folder / "apple/config.json")
        os.environ["SIWA_BASE_URL"] = self.apple
        self.run("siwa", "vault", "init", "--vault", f"sqlite:{self.folder}/vault.db")
        self.run("siwa-server", "webhook-secret", "--out", self.secret_file)

    @property
    def secret_file(self):
        return self.folder / "webhook.secret"

    def configure(self, target):
        file = self.folder / "apple/config.json"
        config = json.loads(file.read_text())
        config["vault"] = {
            "url": f"sqlite:{self.folder}/vault.db", "key_file": str(self.folder / "vault.key")}
        config["server"] = {
            "api": {"listen": "127.0.0.1:0"},
            "notifications": {"listen": "127.0.0.1:0"},
            "deliver": {"url": target, "secret_file": str(self.secret_file)},
        }
        file.write_text(json.dumps(config))

    def serve(self):
        scopes = [word for scope in SCOPES for word in ("--scope", scope)]
        self.token = self.run("siwa-server", "token", "add", "test", *scopes).strip()
        self.server = self.start("siwa-server", "serve")
        found = eventually(
            "siwa-server serves",
            lambda: [line for line in self.log() if line["event"] == "started"])
        self.listeners = found[0]["listeners"]

    def log(self):
        """What the server has logged, but for a line that is not whole yet."""
        lines = (self.folder / "siwa-server.log").read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def run(self, program, *arguments):
        command = [self.products / program, *arguments]
        return subprocess.run(command, check=True, text=True, capture_output=True).stdout

    def start(self, program, *arguments):
        with open(self.folder / f"{program}.log", "wb") as log:
            return subprocess.Popen(
                [self.products / program, *arguments], stdout=log, stderr=subprocess.STDOUT)

    def stop(self):
        for process in (self.server, self.emulator):
            process.terminate()
            assert process.wait(60) == 0, f"{process.args} ended with {process.returncode}"


class Application(http.server.ThreadingHTTPServer):
    """Receives deliveries; each secret it knows has to verify them."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiver)
        self.secrets, self.events, self.refused = [], [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/apple-events"


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            for secret in self.server.secrets:
                event = standardwebhooks.Webhook(secret).verify(body, dict(self.headers))
            self.server.events.append(event)
            self.send_response(204)
        except standardwebhooks.webhooks.WebhookVerificationError as error:
            self.server.refused.append(str(error))
            self.send_response(401)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def check_deliveries(installation, application):
    """An event for each secret file: the first secret, both, the second alone."""
    file = installation.secret_file
    first = file.read_text()
    file.unlink()
    installation.run("siwa-server", "webhook-secret", "--out", file)
    second = file.read_text()
    url = f"http://{installation.listeners['notifications']}/apple/notifications"
    rows = [(first, [first]), (first + second, [first, second]), (second, [second])]
    for count, (contents, secrets) in enumerate(rows, start=1):
        file.write_text(contents)
        application.secrets = [secret.strip() for secret in secrets]
        installation.server.send_signal(signal.SIGHUP)
        eventually(
            "the secrets are read again",
            lambda: [line["event"] for line in installation.log()].count("reloaded") == count)
        post(f"{installation.apple}/emulator/notifications", {"type": "email-disabled", "url": url})
        eventually("an event is delivered", lambda: len(application.events) == count)
    # The application knows a secret that the server does not sign with.
    application.secrets = [first.strip()]
    post(f"{installation.apple}/emulator/notifications", {"type": "email-enabled", "url": url})
    eventually("a delivery is refused", lambda: application.refused)
    types = [event["type"] for event in application.events]
    assert types == ["email-disabled"] * 3, types
    print("standardwebhooks verified deliveries signed by the first secret, both, and the second")


def check_api(installation, examples):
    """Runs schemathesis with every check. No answer may be a defect (500)."""
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE),
        "SIWA_EMULATOR_URL": installation.apple,
        "SIWA_API": f"http://{installation.listeners['api']}", "SIWA_TOKEN": installation.token,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [
        pathlib.Path(sys.executable).with_name("schemathesis"),
        "run", f"http://{installation.listeners['api']}/v1/openapi.json", "--seed", SEED,
        "--max-examples", str(examples), "--checks", "all", "--continue-on-failure",
        "--request-timeout", "60", "--header", f"Authorization: Bearer {installation.token}",
    ]
    status = subprocess.run(command, env=environment, cwd=installation.folder).returncode
    assert status == 0, "schemathesis found something"
    defects = [line for line in installation.log() if line.get("status") == 500]
    assert not defects, defects


def main(products, examples):
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(products, folder)
        application = Application()
        installation.configure(application.url)
        installation.serve()
        try:
            check_deliveries(installation, application)
            # What waits to be delivered is accepted.
            application.secrets = [installation.secret_file.read_text().strip()]
            check_api(installation, examples)
            installation.stop()
        finally:
            for process in (installation.server, installation.emulator):
                process.kill()


main(sys.argv[1], int(sys.argv[2]))
