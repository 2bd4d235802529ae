"""Runs the loops of docs/conformance.md, in four languages, and the verifiers of other people over vectors, and
compares what they get wrong with what the page says of them.

    check.py loops | third-parties     with SIWA_EMULATOR set
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGE = (ROOT / "docs/conformance.md").read_text()
GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "",
      "GOCACHE": os.environ.get("SIWA_CLIENTS_CACHE", tempfile.gettempdir()) + "/go"}
# What SignInWithApple and SignInWithAppleEmulator are made of.
TARGETS = ["SignInWithApple", "SignInWithAppleEmulator", "SIWAConformance", "SIWAEmulator", "SIWASigners", "SIWADiagnosis",
           "SIWALifecycle", "SIWAJOSE", "SIWACrypto", "SIWASystem"]
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


def swift_loop(folder):
    """Compiles the Swift of the page with the library that was built beside the programs."""
    products, source = pathlib.Path(os.environ["SIWA_EMULATOR"]).parent, folder / "main.swift"
    source.write_text(PAGE.split("```swift\n")[1].split("```")[0])
    modules = [word for map in ROOT.glob("Sources/*/module.modulemap") for word in ("-Xcc", f"-fmodule-map-file={map}")]
    objects = [products / f"{target}.build" / f"{file.name}.o"
               for target in TARGETS for file in (ROOT / "Sources" / target).rglob("*.swift")]
    command = ["swiftc", "-I", products / "Modules", *modules, source, *objects, "-o", folder / "loop"]
    run(*command)
    return run(folder / "loop")


def loops(document):
    output = swift_loop(document.parent)
    assert output == "", f"the library comes to another result:\n{output}"
    print("Swift: nothing, as the page says")
    for name, language, command, expected in LOOPS:
        output = run(*command, HERE / name, document)
        found = set(re.findall(r"T\d\d", "\n".join(" ".join(line.split()[:2]) for line in output.splitlines())))
        assert found == expected, (name, found ^ expected, output)
        assert f"```{language}\n{(HERE / name).read_text()}```" in PAGE, f"docs/conformance.md has another {name}"
        print(f"{name}: {', '.join(sorted(found))}, as the page says")


def third_parties(document):
    rows = run(sys.executable, "-W", "ignore", HERE / "third_parties.py", document)
    rows += run("ruby", HERE / "third_party.rb", document)
    print(rows, end="")
    missing = [row for row in rows.splitlines() if row not in PAGE]
    assert not missing, "docs/conformance.md lacks these rows:\n" + "\n".join(missing)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "vectors.json"
    run(os.environ["SIWA_EMULATOR"], "vectors", "--out", path)
    {"loops": loops, "third-parties": third_parties}[sys.argv[1]](path)
