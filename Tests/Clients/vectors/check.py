"""Runs the loops of docs/conformance.md and the verifiers of other people over vectors, and compares what they get
wrong with what the page says of them.

    check.py loops | third-parties     with SIWA_EMULATOR set
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGE = (HERE / "../../../docs/conformance.md").resolve().read_text()
GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "",
      "GOCACHE": os.environ.get("SIWA_CLIENTS_CACHE", tempfile.gettempdir()) + "/go"}
# The loop, its block in the page, its command, and the checks that its library cannot pass.
LOOPS = [
    ("loop.py", "python", [sys.executable], {"T18", "T31", "T60", "T61", "T66"}),
    ("loop.mjs", "js", ["node"], {"T61", "T66"}),
    ("loop.go", "go", ["go", "run"], {"T61", "T65", "T66"}),
]


def run(*command):
    done = subprocess.run([str(part) for part in command], env=os.environ | GO, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def loops(document):
    for name, language, command, expected in LOOPS:
        output = run(*command, HERE / name, document)
        found = set(re.findall(r"T\d\d", "\n".join(" ".join(line.split()[:2]) for line in output.splitlines())))
        assert found == expected, (name, found ^ expected, output)
        assert f"```{language}\n{(HERE / name).read_text()}```" in PAGE, f"docs/conformance.md has another {name}"
        print(f"{name}: {', '.join(sorted(found))}, as the page says")


def third_parties(document):
    rows = run(sys.executable, "-W", "ignore", HERE / "third_parties.py", document)
    rows += run("ruby", HERE / "third_party.rb", document)
    for row in rows.splitlines():
        assert row in PAGE, f"docs/conformance.md has not this row:\n{row}"
        print(row)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "vectors.json"
    run(os.environ["SIWA_EMULATOR"], "vectors", "--out", path)
    {"loops": loops, "third-parties": third_parties}[sys.argv[1]](path)
