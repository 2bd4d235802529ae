"""Signs client_secrets with keys that siwa does not have: check.py PRODUCTS [STORE…]

Puts the key of an emulator's team into each store, as docs/signers.md says, and exchanges a code with
it: by the program alone, and through a socket as siwa-signer.socket has it; one also as the sidecar of
deploy/kubernetes. The stores are SoftHSM with pkcs11-tool and with an SSH agent, a TPM (swtpm), an SSH
agent with the key itself, AWS KMS (moto), and stubs of Google Cloud KMS, Azure Key Vault and Vault,
which check each request against the form that their vendors document.
"""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Harness"))
from emulator import Emulator, Process, eventually, post, run

SCRIPTS = ROOT / "deploy/signers"
MODULE = "/usr/lib/softhsm/libsofthsm2.so"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}


class ScriptSocket:
    """Runs a signer for each connection, with the connection as its standard input and output, as
    systemd does for a socket with Accept=yes."""

    def __init__(self, path, command, env):
        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                subprocess.run(
                    command, env=env, stdin=self.request.fileno(), stdout=self.request.fileno(),
                    stderr=subprocess.DEVNULL)

        self.server = socketserver.ThreadingUnixStreamServer(str(path), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Apple(Emulator):
    """An emulator whose team has the given public key."""

    def __init__(self, products, folder):
        super().__init__(products, folder)
        self.siwa = self.products / "siwa"
        self.key_id = self.state["keys"][0]["kid"]
        self.key = folder / f"AuthKey_{self.key_id}.p8"

    def public_key(self):
        path = self.folder / "apple-public.pem"
        if not path.exists():
            path.write_bytes(run(self.siwa, "public-key", "--key", self.key))
        return path

    def use(self, pem):
        """Makes the team's key another one."""
        der = run("openssl", "pkey", "-pubin", "-in", pem, "-outform", "DER")
        encode = lambda part: base64.urlsafe_b64encode(part).rstrip(b"=").decode()
        self.state["keys"][0] |= {"x": encode(der[-64:-32]), "y": encode(der[-32:])}
        self.save()

    def sign_in(self, name, private_key, env=None):
        """Exchanges a code, with a client_secret that the signer of the settings signs."""
        config = self.folder / f"{name}.json"
        with self.serving() as url:
            config.write_text(json.dumps({"profiles": {"app": {
                "team_id": self.state["team_id"], "client_id": "com.example.app",
                "key_id": self.key_id, "private_key": private_key, "base_url": url}}}))
            config.chmod(0o600)
            env = ENVIRONMENT | (env or {}) | {"SIWA_CONFIG": str(config)}
            code = post(f"{url}/emulator/codes", {"client_id": "com.example.app"})["code"]
            answer = json.loads(run(self.siwa, "exchange", "--code", code, env=env))
            assert answer["refresh_token"], answer
            checks = run(self.siwa, "doctor", env=env).decode()
            assert "signer" in checks, checks
        print(f"{name}: a code was exchanged", flush=True)


class Store:
    """A place for a private key."""

    def __init__(self, apple, folder):
        self.apple, self.folder = apple, folder
        self.env = {}

    def script(self, name, *arguments):
        """Signs by the script alone, and through a socket."""
        command = [str(SCRIPTS / name), *map(str, arguments)]
        names = [f"{name}={value}" for name, value in self.env.items()]
        public = str(self.apple.public_key())
        label = type(self).__name__
        self.apple.sign_in(f"{label}-exec", {
            "exec": command, "env": names, "public_key": public, "timeout": "30s"})
        path = self.folder / "sign.sock"
        with ScriptSocket(path, command, ENVIRONMENT | self.env):
            self.apple.sign_in(f"{label}-socket", {
                "socket": str(path), "public_key": public, "timeout": "30s"})

    def sidecar(self, name, *arguments):
        """Signs through the command of deploy/kubernetes/signer.yaml, in a folder like an emptyDir."""
        folder = self.folder / "empty"
        folder.mkdir()
        folder.chmod(0o2777)
        path = folder / "sign.sock"
        manifest = (ROOT / "deploy/kubernetes/signer.yaml").read_text()
        listen = re.search(r"UNIX-LISTEN:\S+", manifest)[0].replace("/run/siwa-signer/sign.sock", str(path))
        command = re.search(r"EXEC:.+", manifest)[0].replace("/usr/libexec/siwa/signers", str(SCRIPTS))
        assert command == f"EXEC:{SCRIPTS / name} {' '.join(arguments)}", command
        with Process("socat", listen, command, env=ENVIRONMENT | self.env):
            eventually("socat listens", path.exists)
            self.apple.sign_in(f"{type(self).__name__}-sidecar", {
                "socket": str(path), "public_key": str(self.apple.public_key()), "timeout": "30s"})

    def agent(self, add, label):
        """Signs by an SSH agent, whose key `add` adds."""
        path = self.folder / "agent.sock"
        with Process("ssh-agent", "-D", "-a", path, *self.agent_options):
            eventually("the agent runs", path.exists)
            env = ENVIRONMENT | self.env | {"SSH_AUTH_SOCK": str(path)}
            add(env)
            lines = run("ssh-add", "-l", env=env).decode().splitlines()
            fingerprint = next(line.split()[1] for line in lines if "(ECDSA)" in line)
            self.apple.sign_in(label, {
                "ssh_agent": fingerprint, "agent_socket": str(path),
                "public_key": str(self.apple.public_key())})

    agent_options = []


class SSHAgent(Store):
    def check(self):
        key = self.folder / "key.pem"
        shutil.copy(self.apple.key, key)
        key.chmod(0o600)
        self.agent(lambda env: run("ssh-add", key, env=env), "SSHAgent")


class SoftHSM(Store):
    agent_options = ["-P", "/usr/lib/*"]

    def check(self):
        tokens = self.folder / "tokens"
        tokens.mkdir()
        configuration = self.folder / "softhsm2.conf"
        configuration.write_text(f"directories.tokendir = {tokens}\n")
        self.env = {"SOFTHSM2_CONF": str(configuration)}
        env = ENVIRONMENT | self.env
        run("softhsm2-util", "--init-token", "--free", "--label", "apple", "--so-pin", "3537363231383830",
            "--pin", "648219", env=env)
        run("softhsm2-util", "--import", self.apple.key, "--token", "apple", "--label", "apple",
            "--id", "01", "--pin", "648219", env=env)
        pin = self.folder / "pin"
        pin.write_text("648219\n")
        self.script("pkcs11", "--module", MODULE, "--id", "01", "--token-label", "apple",
                    "--pin-file", pin)
        self.wrong_pin(env)
        ask = self.folder / "askpass"
        ask.write_text("#!/bin/sh\necho 648219\n")
        ask.chmod(0o700)
        os.environ["SOFTHSM2_CONF"] = str(configuration)
        self.env |= {"SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
        self.agent(lambda env: run("ssh-add", "-s", MODULE, env=env), "SoftHSM-ssh-agent")

    def wrong_pin(self, env):
        """A wrong PIN is final: exit code 77."""
        pin = self.folder / "wrong-pin"
        pin.write_text("000000\n")
        question = b"version=1\noperation=sign\nalgorithm=ES256\ndigest=AAAA\nmessage=AAAA\n\n"
        answer = run(SCRIPTS / "pkcs11", "--module", MODULE, "--id", "01", "--token-label", "apple",
                     "--pin-file", pin, input=question, env=env, expect=77)
        assert answer == b"error=denied\n\n", answer


class TPM(Store):
    def check(self):
        state = self.folder / "tpm"
        state.mkdir()
        path = self.folder / "tpm.sock"
        with Process("swtpm", "socket", "--tpm2", "--tpmstate", f"dir={state}",
                     "--server", f"type=unixio,path={path}", "--ctrl",
                     f"type=unixio,path={path}.ctrl", "--flags", "not-need-init,startup-clear"):
            eventually("the TPM runs", path.exists)
            self.env = {"TPM2TOOLS_TCTI": f"swtpm:path={path}"}
            env = ENVIRONMENT | self.env
            run("tpm2_createprimary", "-Q", "-C", "o", "-g", "sha256", "-G", "ecc",
                "-c", self.folder / "primary.ctx", env=env)
            # The simulator has no resource manager, which makes room for a key.
            run("tpm2_flushcontext", "-t", env=env)
            run("tpm2_import", "-Q", "-C", self.folder / "primary.ctx", "-G", "ecc",
                "-i", self.apple.key, "-u", self.folder / "key.pub", "-r", self.folder / "key.priv",
                env=env)
            run("tpm2_flushcontext", "-t", env=env)
            run("tpm2_load", "-Q", "-C", self.folder / "primary.ctx", "-u", self.folder / "key.pub",
                "-r", self.folder / "key.priv", "-c", self.folder / "key.ctx", env=env)
            run("tpm2_flushcontext", "-t", env=env)
            run("tpm2_evictcontrol", "-Q", "-C", "o", "-c", self.folder / "key.ctx", "0x81010001",
                env=env)
            run("tpm2_flushcontext", "-t", env=env)
            self.script("tpm2", "0x81010001")


class AWS(Store):
    """moto makes keys and takes none: the emulator's team gets the public half."""

    def check(self):
        port = 5577
        self.env = {
            "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "PATH": f"{pathlib.Path(shutil.which('aws')).parent}:/usr/local/bin:/usr/bin:/bin"}
        env = ENVIRONMENT | self.env
        with Process(shutil.which("moto_server"), "-H", "127.0.0.1", "-p", port):
            def answers():
                with contextlib.suppress(OSError):
                    return urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/").status
            eventually("moto runs", answers)
            made = json.loads(run("aws", "kms", "create-key", "--key-spec", "ECC_NIST_P256",
                                  "--key-usage", "SIGN_VERIFY", "--output", "json", env=env))
            arn = made["KeyMetadata"]["Arn"]
            der = base64.b64decode(run(
                "aws", "kms", "get-public-key", "--key-id", arn, "--output", "text", "--query",
                "PublicKey", env=env))
            pem = self.apple.public_key()
            pem.write_bytes(run("openssl", "pkey", "-pubin", "-inform", "DER", input=der))
            self.apple.use(pem)
            # doctor would find that the file named for the Key ID is another key.
            self.apple.key.unlink()
            self.script("aws-kms", arn)


class Stub(Store):
    """A service of a vendor: a subclass says which requests it documents."""

    def check(self):
        store, requests = self, []
        key = self.apple.key

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(store.token(self.path, self.headers))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append(self.path)
                self.reply(store.answer(self.path, self.headers, body, self.sign))

            @staticmethod
            def sign(digest):
                with tempfile.NamedTemporaryFile() as file:
                    file.write(digest)
                    file.flush()
                    return run("openssl", "pkeyutl", "-sign", "-inkey", key, "-in", file.name)

            def reply(self, value):
                status, body = (200, value) if value else (400, {"error": "not as documented"})
                text = json.dumps(body, indent=2).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.sign_with(f"http://127.0.0.1:{server.server_port}")
        assert requests, "nothing was asked"
        server.shutdown()

    def token(self, path, headers):
        return None


def raw(der):
    """r and s of an ECDSA signature in DER."""
    def integer(at):
        length = der[at + 1]
        number = der[at + 2:at + 2 + length].lstrip(b"\0")
        return number.rjust(32, b"\0"), at + 2 + length
    r, at = integer(2)
    return r + integer(at)[0]


class GoogleCloudKMS(Stub):
    """https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys.cryptoKeyVersions/asymmetricSign"""

    name = "projects/p/locations/europe/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1"

    def sign_with(self, url):
        self.env = {"GCP_KMS_URL": url, "GCE_METADATA_HOST": url.removeprefix("http://")}
        self.script("gcp-kms", self.name)

    def token(self, path, headers):
        path_of_token = "/computeMetadata/v1/instance/service-accounts/default/token"
        if path == path_of_token and headers["Metadata-Flavor"] == "Google":
            return {"access_token": "ya29.a-token", "expires_in": 3599, "token_type": "Bearer"}

    def answer(self, path, headers, body, sign):
        if (path == f"/v1/{self.name}:asymmetricSign" and list(body) == ["digest"]
                and list(body["digest"]) == ["sha256"]
                and headers["Authorization"] == "Bearer ya29.a-token"):
            signature = sign(base64.b64decode(body["digest"]["sha256"], validate=True))
            return {"signature": base64.b64encode(signature).decode(), "name": self.name}


class AzureKeyVault(Stub):
    """https://learn.microsoft.com/rest/api/keyvault/keys/sign/sign"""

    def sign_with(self, url):
        self.env = {"AZURE_IDENTITY_URL": url}
        self.script("azure-key-vault", f"{url}/keys/apple/6f1d")

    def token(self, path, headers):
        documented = ("/metadata/identity/oauth2/token?api-version=2018-02-01"
                      "&resource=https://vault.azure.net")
        if path == documented and headers["Metadata"] == "true":
            return {"access_token": "eyJ0.a.token", "token_type": "Bearer"}

    def answer(self, path, headers, body, sign):
        if (path == "/keys/apple/6f1d/sign?api-version=7.4" and sorted(body) == ["alg", "value"]
                and body["alg"] == "ES256" and "=" not in body["value"]
                and headers["Authorization"] == "Bearer eyJ0.a.token"):
            digest = base64.urlsafe_b64decode(body["value"] + "=" * (-len(body["value"]) % 4))
            value = base64.urlsafe_b64encode(raw(sign(digest))).rstrip(b"=").decode()
            return {"kid": f"{path}", "value": value}


class VaultTransit(Stub):
    """https://developer.hashicorp.com/vault/api-docs/secret/transit#sign-data"""

    def sign_with(self, url):
        token = self.folder / "token"
        token.write_text("hvs.a-token\n")
        self.env = {"VAULT_ADDR": url, "VAULT_TOKEN_FILE": str(token)}
        self.script("vault-transit", "apple")
        self.sidecar("vault-transit", "apple")

    def answer(self, path, headers, body, sign):
        if (path == "/v1/transit/sign/apple" and headers["X-Vault-Token"] == "hvs.a-token"
                and body["prehashed"] is True and body["hash_algorithm"] == "sha2-256"
                and body["marshaling_algorithm"] == "jws"):
            value = raw(sign(base64.b64decode(body["input"], validate=True)))
            encoded = base64.urlsafe_b64encode(value).rstrip(b"=").decode()
            return {"data": {"signature": f"vault:v1:{encoded}"}}


STORES = [SSHAgent, SoftHSM, TPM, AWS, GoogleCloudKMS, AzureKeyVault, VaultTransit]


def main(products, *names):
    signal.alarm(1200)
    for store in STORES:
        if names and store.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            store(Apple(products, folder / "apple"), folder).check()


if __name__ == "__main__":
    main(*sys.argv[1:])
