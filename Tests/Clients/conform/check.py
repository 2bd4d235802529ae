"""Runs `siwa-emulator conform` against the sample backend, sound and with each of its bugs.

    check.py SIWA_EMULATOR [--quick] [--runs N] [--bug NAME]...

Every bug must fail exactly the checks of the table; the sound backend fails none, in either channel.
"""
import argparse, json, pathlib, socket, subprocess, sys, tempfile

from backend import BUGS

HERE = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(emulator, folder, channel, bugs, only=None, timeout="8s"):
    """The exit code of conform, and the ids of the checks that failed."""
    port, apple = free_port(), free_port()
    config = json.loads((folder / "config.json").read_text())["profiles"]["app"]
    backend = subprocess.Popen(
        [sys.executable, str(HERE / "backend.py"), "--apple", f"http://127.0.0.1:{apple}",
         "--port", str(port), "--key", str(folder / config["private_key"]),
         "--key-id", config["key_id"], "--team-id", config["team_id"], "--channel", channel]
        + [word for bug in bugs for word in ("--bug", bug)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        backend.stdout.readline()
        described = folder / f"backend-{port}.json"
        described.write_text((HERE / "backend.json").read_text().replace("PORT", str(port)))
        command = [emulator, "conform", str(described), "--dir", str(folder), "--port", str(apple),
                   "--json", "--timeout", timeout]
        # T71 ends later than a bug's run should, when the keys are never fetched again.
        command += ["--only", only] if only else ["--skip", "T71=slow"] if "stale_keys" not in bugs else []
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if not done.stdout:
            return done.returncode, {"run": done.stderr.strip()}
        results = json.loads(done.stdout)["results"]
        return done.returncode, {
            f"{r['id']}/{r['flow'] or '-'}": r["detail"] for r in results if r["result"] in ("failed", "advice")}
    finally:
        backend.terminate()
        backend.wait()
        backend.stdout.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("emulator")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bug", action="append", choices=BUGS)
    parser.add_argument("--learn", action="store_true", help="print the table")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "apple"
        subprocess.run([options.emulator, "init", str(folder)], check=True, capture_output=True)
        for number in range(options.runs):
            for channel in ("request", "exchange"):
                if options.bug:
                    continue
                code, failed = run(options.emulator, folder, channel, [])
                if code != 0 or set(failed) - SOUND_ADVICE[channel]:
                    wrong += 1
                    print(f"sound, {channel}, run {number + 1}: exit {code}", failed)
        table = json.loads((HERE / "bugs.json").read_text()) if (HERE / "bugs.json").exists() else {}
        names = options.bug or (QUICK if options.quick else list(BUGS))
        for bug in names if options.runs == 1 else []:
            channel = "exchange" if bug in EXCHANGE else "request"
            code, failed = run(
                options.emulator, folder, channel, [bug], timeout="2s" if bug == "slow" else "8s")
            found = sorted(set(failed) - SOUND_ADVICE[channel])
            if options.learn:
                table[bug] = found
                print(bug, code, json.dumps(failed), flush=True)
            elif found != table.get(bug) or code not in (0, 1):
                wrong += 1
                print(f"{bug}: exit {code}, failed {found}, expected {table.get(bug)}")
        if options.learn:
            (HERE / "bugs.json").write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
    print("as expected" if not wrong else f"{wrong} runs were not as expected")
    return 1 if wrong else 0


# What conform notes about the sound backend, without a verdict: PyJWT takes the last of repeated members
# and any depth, and nothing but an exchange brings the access token that at_hash is about.
SOUND_ADVICE = {
    "request": {f"{id}/{flow}" for id in ("T51", "T61", "T66") for flow in ("native", "web")},
    "exchange": {f"{id}/{flow}" for id in ("T61", "T66") for flow in ("native", "web")},
}
# Bugs that only show if the token of the exchange is believed.
EXCHANGE = {"no_at_hash"}
# The bugs of --quick: a signature, an account, a revocation.
QUICK = ("alg_none", "email_from_body", "no_revoke")

if __name__ == "__main__":
    sys.exit(main())
