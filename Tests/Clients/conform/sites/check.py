"""Runs conform against a Django site with django-allauth, one with python-social-auth, and a GraphQL server with
PyJWT, and compares the findings with the table of docs/conformance.md.

    check.py     with SIWA_EMULATOR and APPLE set, in the surroundings that ../../run.sh makes
"""
import importlib.metadata, json, os, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
PAGE = (ROOT / "docs/conformance.md").read_text()
RECIPES = ROOT / "docs/conformance/recipes"
APPLE = pathlib.Path(os.environ["APPLE"])
# The recipe, the package that signs in, and the program.
SITES = [
    ("django-allauth", "django-allauth", ["site.py", "allauth", "--apple", APPLE]),
    ("python-social-auth", "social-auth-core", ["site.py", "social-auth", "--apple", APPLE]),
    ("graphql", "PyJWT", ["graphql_site.py"]),
]


def findings(recipe, program, folder):
    """The ids of the checks that failed, and those that are advice."""
    site = subprocess.Popen(
        [sys.executable, "-W", "ignore", HERE / program[0], *program[1:], "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        app = site.stdout.readline().split()[-1]
        described = json.loads((RECIPES / f"{recipe}.json").read_text()) | {
            "app": app, "ca_file": str(APPLE / "ca.pem"), "rate": "100/s"}
        file = folder / f"{recipe}.json"
        file.write_text(json.dumps(described))
        done = subprocess.run(
            [os.environ["SIWA_EMULATOR"], "conform", file, "--emulator", "https://localhost", "--json"],
            capture_output=True, text=True)
        assert done.stdout, (recipe, done.returncode, done.stderr)
        results = json.loads(done.stdout)["results"]
        assert not any(r["result"] == "inconclusive" for r in results), results
        return [sorted({r["id"] for r in results if r["result"] == wanted}) for wanted in ("failed", "advice")]
    finally:
        site.terminate()
        site.wait()
        site.stdout.close()


with tempfile.TemporaryDirectory() as name:
    for recipe, package, program in SITES:
        failed, advice = findings(recipe, program, pathlib.Path(name))
        version = f"{package} {importlib.metadata.version(package)}"
        ids = " | ".join(", ".join(found) or "none" for found in (failed, advice))
        row = f"| [{recipe}](conformance/recipes/{recipe}.json) | {version} | {ids} |"
        print(row)
        assert row in PAGE, "docs/conformance.md has another row"
