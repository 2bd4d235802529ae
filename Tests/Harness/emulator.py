"""What the checks in Python share: programs that end with their block, and an emulator."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time
import urllib.request


def run(*words, input=None, env=None, expect=0):
    """Runs a program to its end, and answers what it wrote; another exit code ends the check."""
    result = subprocess.run(
        [str(word) for word in words], input=input, env=env, capture_output=True, timeout=300)
    if result.returncode != expect:
        sys.exit(f"{words}: exit code {result.returncode}\n{result.stdout.decode()}"
                 f"{result.stderr.decode()}")
    return result.stdout


def eventually(what, condition, limit=60):
    """Waits until a condition has a value, and answers it."""
    end = time.monotonic() + limit
    while True:
        if value := condition():
            return value
        if time.monotonic() > end:
            sys.exit(f"{what}: never happened")
        time.sleep(0.05)


def post(url, body):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class Process:
    """A program that is ended with its block."""

    def __init__(self, *words, env=None, log=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            [str(word) for word in words], env=env, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Emulator:
    """An emulator with a folder of its own."""

    def __init__(self, products, folder, *options):
        self.products, self.folder = pathlib.Path(products).resolve(), pathlib.Path(folder)
        run(self.products / "siwa-emulator", "init", self.folder, *options)
        self.state = json.loads((self.folder / "emulator.json").read_text())

    def save(self):
        """Writes the state, for the next start."""
        (self.folder / "emulator.json").write_text(json.dumps(self.state))

    def start(self, *options):
        """Starts it, waits until it serves, and answers its process; `url` is where it serves."""
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        running = Process(
            self.products / "siwa-emulator", "serve", self.folder, "--ready-file", ready, *options)
        eventually("the emulator is ready", lambda: ready.exists() and ready.read_text())
        self.url = ready.read_text().split("\n")[0]
        return running.process

    @contextlib.contextmanager
    def serving(self):
        """Serves on a free port until the block ends."""
        process = self.start("--port", "0")
        try:
            yield self.url
        finally:
            process.terminate()
            process.wait()
