"""Runs `siwa-emulator conform` against the sample backend, sound and with each of its bugs.

    check.py SIWA_EMULATOR [--quick] [--runs N] [--waiting] [--bug NAME]... [--learn]

Every bug must fail exactly the checks of the table (bugs.json), in both channels; the sound backend fails
none. Every report must be valid by JUnit's schema.
"""
import argparse, json, pathlib, random, socket, subprocess, sys, tempfile

from backend import BUGS
from junit import Schema

HERE = pathlib.Path(__file__).parent
CHANNELS = ("request", "exchange")


def free_port():
    """Below the ports that the system gives to programs which ask for any: none of them takes it meanwhile."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def run(emulator, folder, channel, bugs, waiting=False):
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
        described, report = folder / f"backend-{port}.json", folder / f"report-{port}.xml"
        described.write_text((HERE / "backend.json").read_text().replace("PORT", str(port)))
        command = [emulator, "conform", str(described), "--dir", str(folder), "--port", str(apple),
                   "--json", "--junit", str(report), "--timeout", "2s" if "slow" in bugs else "8s"]
        # T71 ends later than a bug's run should, when the keys are never fetched again.
        command += [] if waiting or "stale_keys" in bugs else ["--skip", "T71=slow"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if not done.stdout:
            return done.returncode, {"run": done.stderr.strip()}
        faults = Schema(HERE / "junit-10.xsd").faults(report)
        results = json.loads(done.stdout)["results"]
        bad = {f"{r['id']}/{r['flow'] or '-'}": r["detail"] for r in results
               if r["result"] in ("failed", "advice", "inconclusive")}
        # Only what the file does not ask for is inconclusive, and nothing here is.
        return done.returncode, bad | ({"JUnit": faults} if faults else {})
    finally:
        backend.terminate()
        backend.wait()
        backend.stdout.close()


def expectation(table, bug, channel):
    return table.get(channel, {}).get(bug)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("emulator")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--waiting", action="store_true", help="run the checks that wait, too")
    parser.add_argument("--bug", action="append", choices=BUGS)
    parser.add_argument("--learn", action="store_true", help="write the table")
    options = parser.parse_args()
    wrong = 0
    path = HERE / "bugs.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    names = options.bug or (QUICK if options.quick else list(BUGS))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "apple"
        subprocess.run([options.emulator, "init", str(folder)], check=True, capture_output=True)
        for number in range(0 if options.bug and options.runs == 1 else options.runs):
            for channel in CHANNELS:
                code, failed = run(options.emulator, folder, channel, [], options.waiting)
                if code != 0 or set(failed) - SOUND_ADVICE[channel]:
                    wrong += 1
                    print(f"sound, {channel}, run {number + 1}: exit {code}", failed, flush=True)
        for bug, channel in ((b, c) for b in names for c in CHANNELS if options.runs == 1):
            expected = expectation(table, bug, channel)
            if expected is None and not options.learn:
                continue
            code, failed = run(options.emulator, folder, channel, [bug])
            found = sorted(set(failed) - SOUND_ADVICE[channel])
            if options.learn:
                table.setdefault(channel, {}).pop(bug, None)
                if found:
                    table[channel][bug] = found
                print(bug, channel, code, json.dumps(failed), flush=True)
                path.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
            elif found != expected or code not in (0, 1):
                wrong += 1
                print(f"{bug}, {channel}: exit {code}, failed {found}, expected {expected}", flush=True)
    print("as expected" if not wrong else f"{wrong} runs were not as expected")
    return 1 if wrong else 0


# What conform notes about the sound backend, without a verdict: PyJWT takes the last of repeated members
# and any depth, and nothing but an exchange brings the access token that at_hash is about.
SOUND_ADVICE = {
    "request": {f"{id}/{flow}" for id in ("T51", "T61", "T66") for flow in ("native", "web")},
    "exchange": {f"{id}/{flow}" for id in ("T61", "T66") for flow in ("native", "web")},
}
# The bugs of --quick: a signature, an account, a revocation.
QUICK = ("alg_none", "email_from_body", "no_revoke")

if __name__ == "__main__":
    sys.exit(main())
