"""Moves users of an app transfer in real databases: check.py PRODUCTS [sqlite postgresql mysql] [PART…]

The parts are: cases, failures, sites, size (all of them). Scripts of 'siwa migrate plan' run in psql,
mysql and sqlite3. The schemas are in schemas.py; those of django-allauth and python-social-auth are
made by their own migrations, and 'sites' signs in through them (docs/testing.md). Ends with a table of
what passed: schemas, cases and databases.
"""

import copy
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import databases
import schemas
import sites

PRODUCTS = pathlib.Path(sys.argv[1]).resolve()
RELAY = "@privaterelay.appleid.com"
passed = []


def old_id(number):
    return f"{number:06d}.0123456789abcdef.0830"


def new_id(number):
    return f"{number:06d}.fedcba9876543210.1455"


def transfer_id(number):
    return f"{number:06d}.00112233445566aa.0912"


def siwa(*words, expect=0):
    result = subprocess.run([PRODUCTS / "siwa", "migrate", "plan", *map(str, words)], capture_output=True,
                            text=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    assert result.returncode == expect, (words, result.returncode, result.stdout[-2000:], result.stderr)
    return result


class Story:
    """The users of an application, as they are stored, and what an import says of them."""

    def __init__(self, schema, conflict=False, match="old_user_id"):
        self.schema, self.match = schema, match
        #: The id of a user that is stored before the change.
        self.stored = old_id = globals()["old_id"] if match == "old_user_id" else transfer_id
        self.addresses = {}
        self.identities = []
        self.lines = []
        self.states = {}
        own = schema.provider
        # Only the old id: the address is the user's own; Apple's relay; of Apple's relay, while the
        # import has none; Apple's relay again, but the new address is another account's.
        self.person(1, "a1@example.com", [(own, old_id(1))], None, "changed")
        self.person(2, f"old2{RELAY}", [(own, old_id(2))], f"new2{RELAY}", "changed")
        self.person(3, "Own3@example.com", [(own, old_id(3))], f"new3{RELAY}", "changed")
        self.person(4, f"old4{RELAY}", [(own, old_id(4))], f"new4{RELAY}", "changed")
        self.person(5, f"NEW4{RELAY}", [("google", old_id(1))], None, None)
        self.person(6, f"new6{RELAY}", [(own, new_id(6))], f"new6{RELAY}", "already_applied")
        if schema.links:
            self.person(7, "a7@example.com", [(own, old_id(7)), (own, new_id(7))], None, "already_linked")
        # The provider's own copy says that the user chose the relay address by hand.
        self.person(8, f"hand8{RELAY}", [(own, old_id(8))], f"new8{RELAY}", "changed", copy="else8@example.com")
        self.person(9, f"old9@private.icloud.com", [(own, old_id(9))], f"new9{RELAY}", "changed")
        self.pair(10, None, "absent")
        self.person(11, "a11@example.com", [(own, old_id(11)), ("google", "011")]
                    if schema.links and own == "apple" else [(own, old_id(11))], None, "changed")
        if conflict:
            self.person(20, f"old20{RELAY}", [(own, old_id(20))], f"new20{RELAY}", "conflict")
            self.person(21, f"new20{RELAY}", [(own, new_id(20))], None, None)
        self.lines += [json.dumps({"line": 90, "transfer_id": "1", "user_id": None, "status": "refused"}), ""]

    def pair(self, number, address, state):
        if state is None:
            return
        self.states[number] = state
        line = {"line": number, "transfer_id": transfer_id(number), "user_id": new_id(number),
                "old_user_id": old_id(number), "email": address, "status": "done", "exit_code": 0}
        if address is None:
            del line["email"]
        self.lines.append(json.dumps(line))

    def person(self, number, address, identities, new_address, state, copy=None):
        self.addresses[number] = address
        for provider, user_id in identities:
            self.identities.append([number, provider, user_id, copy or address])
        self.pair(number, new_address, state)

    def sql(self):
        text = "".join(self.schema.account(*item) for item in self.addresses.items())
        for row, (number, provider, user_id, address) in enumerate(self.identities):
            text += self.schema.identity(row, number, provider, user_id, address)
        return text

    def truth(self):
        """What is stored after the change."""
        after = copy.copy(self)
        after.addresses, after.identities = dict(self.addresses), copy.deepcopy(self.identities)
        new = {json.loads(line)[self.match]: json.loads(line).get("email")
               for line in self.lines if "old_user_id" in line}
        for identity in after.identities:
            number, provider, user_id, own = identity
            if self.states.get(number) != "changed" or provider != self.schema.provider:
                continue
            if user_id != self.stored(number):
                continue
            identity[2] = new_id(number)
            address, wanted = self.addresses[number], new.get(user_id)
            isRelay = address.lower().endswith((RELAY, "@private.icloud.com"))
            isFree = wanted not in [other.lower() for other in self.addresses.values()]
            same = not self.schema.compares or own.lower() == address.lower()
            if self.schema.addresses and wanted and isRelay and isFree and same:
                after.addresses[number] = wanted
                if own.lower() == address.lower():
                    identity[3] = wanted
        return after

    def rows(self):
        copies = getattr(self.schema, "copies", 0)
        return (
            sorted([str(number), address] for number, address in self.addresses.items()),
            sorted([str(number), provider, user_id] + [user_id] * copies
                   + ([own.lower() if self.schema.recipe == "supabase" else own] if self.schema.compares else [])
                   for number, provider, user_id, own in self.identities))

    def counts(self):
        names = ["changed", "already_applied", "already_linked", "conflict", "absent"]
        return [[name, sum(state == name for state in self.states.values())] for name in names]


def stored(schema):
    rows = schema.database.rows
    identities = [row for row in rows(schema.identities()) if row[0] != "someone"]
    return sorted(rows(schema.accounts())), sorted(identities)


class Plan:
    """A plan of a story, as files, in an empty database with the story."""

    def __init__(self, story, *more, fill=True):
        self.story, self.schema = story, story.schema
        self.database = story.schema.database
        self.more = more
        if fill:
            self.database.fresh()
            # SQLite and Django make one table after the other.
            self.database.sql(self.schema.create() + story.sql())
        self.folder = self.database.folder
        self.input = self.folder / "import.jsonl"
        self.input.write_text("".join(line + "\n" for line in story.lines))

    def write(self, *more):
        words = ["--recipe", self.schema.recipe, "--match", self.story.match, "--dialect", self.database.dialect]
        inverse = self.folder / "inverse.sql"
        inverse.unlink(missing_ok=True)
        result = siwa(*words, *self.schema.options, *self.more, *more, "--inverse", inverse, self.input)
        path = self.folder / "plan.sql"
        path.write_text(result.stdout)
        return path, inverse

    def same(self, story, when):
        assert stored(self.schema) == story.rows(), (
            f"{type(self.schema).__name__} on {self.database.dialect}, {when}:\n{stored(self.schema)}\n{story.rows()}")


def numbers(output, count):
    """The table of counts that a client printed: of each state, the numbers."""
    found = []
    for name in ["changed", "already_applied", "already_linked", "conflict", "absent"]:
        for line in output.splitlines():
            words = line.replace("|", " ").split()
            if len(words) == count + 1 and words[0] == name and all(word.isdigit() for word in words[1:]):
                found.append([name] + [int(word) for word in words[1:]])
                break
    return found


def refused(database, path, text):
    try:
        output = database.run(path)
    except databases.Failed as error:
        assert text in str(error), (text, str(error))
        return str(error)
    raise AssertionError(f"the script should have stopped with: {text}\n{output}")


def note(database, subject, case):
    passed.append((database, subject, case))
    print("passed:", f"{database} · {subject} · {case}", flush=True)


def note_of(schema, case):
    note(schema.database.dialect, f"{schema.recipe}: {type(schema).__name__}", case)


def print_table():
    """Schemas, cases and databases, as Markdown; then what else passed."""
    def databases_of(subject, case):
        return ", ".join(name for name, *rest in passed if rest == [subject, case])

    kinds = [f"{kind.recipe}: {kind.__name__}" for kind in schemas.ALL]
    cases = list(dict.fromkeys(case for _, subject, case in passed if subject in kinds))
    print("| schema | " + " | ".join(cases) + " |\n|" + "---|" * (len(cases) + 1))
    for subject in dict.fromkeys(subject for _, subject, _ in passed if subject in kinds):
        print(f"| {subject} | " + " | ".join(databases_of(subject, case) for case in cases) + " |")
    print("\n| | | |\n|---|---|---|")
    for subject, case in dict.fromkeys(tuple(rest) for _, *rest in passed if rest[0] not in kinds):
        print(f"| {subject} | {case} | {databases_of(subject, case)} |")


def check_cases(database):
    for kind in schemas.ALL:
        if database.dialect in kind.dialects:
            schema = kind(database)
            check_story(schema)
            check_conflicts(schema)
            check_transfer_ids(schema)


def check_story(schema):
    story = Story(schema)
    plan = Plan(story)
    database = schema.database
    dry, _ = plan.write()
    plain = dry.read_text()
    output = database.run(dry)
    assert numbers(output, 1) == story.counts(), output
    plan.same(story, "after ROLLBACK")
    note_of(schema, "counts, ROLLBACK")
    script, inverse = plan.write("--commit")
    assert plain == script.read_text().removesuffix("COMMIT;\n") + "ROLLBACK;\n"
    after = story.truth()
    output = database.run(script)
    expected = expected_counts(story)
    assert numbers(output, 2) == expected, (output, expected)
    plan.same(after, "after COMMIT")
    note_of(schema, "COMMIT")
    output = database.run(script)
    assert numbers(output, 2) == [[name, count, count] for name, _, count in expected], output
    plan.same(after, "run twice")
    note_of(schema, "twice")
    database.run(inverse)
    plan.same(story, "after the inverse")
    database.run(inverse)
    database.run(script)
    plan.same(after, "again after the inverse")
    # What has changed since is not restored.
    if type(schema).__name__ == "AuthJS":
        database.sql(f"UPDATE accounts SET {schema.q('providerAccountId')} = 'other' "
                     f"WHERE {schema.q('providerAccountId')} = '{new_id(1)}';\n")
        database.run(inverse)
        assert ["1", "apple", "other"] in stored(schema)[1]
    note_of(schema, "inverse")


def expected_counts(story):
    """Of each state, the numbers before and after the change."""
    changed = story.counts()[0][1]
    return [[name, count, {"changed": 0, "already_applied": count + changed}.get(name, count)]
            for name, count in story.counts()]


def check_transfer_ids(schema):
    """The application got its users under their transfer identifiers."""
    story = Story(schema, match="transfer_id")
    plan = Plan(story)
    script, inverse = plan.write("--commit")
    output = schema.database.run(script)
    assert numbers(output, 2) == expected_counts(story), output
    plan.same(story.truth(), "by transfer identifiers")
    schema.database.run(inverse)
    plan.same(story, "after the inverse, by transfer identifiers")
    note_of(schema, "--match transfer_id")


def check_conflicts(schema):
    story = Story(schema, conflict=True)
    plan = Plan(story)
    script, _ = plan.write("--commit")
    text = refused(schema.database, script, "conflicts: users have two accounts")
    assert old_id(20) in text and new_id(20) in text, text
    plan.same(story, "after a conflict")
    note_of(schema, "conflict stops")
    script, inverse = plan.write("--commit", "--skip-conflicts")
    output = schema.database.run(script)
    assert ["conflict", 1, 1] in numbers(output, 2), output
    plan.same(story.truth(), "without the conflict")
    schema.database.run(inverse)
    plan.same(story, "after the inverse, with a conflict")
    note_of(schema, "--skip-conflicts")


def check_failures(database):
    schema = schemas.AuthJS(database)
    story = Story(schema)
    plan = Plan(story)
    q = schema.q
    # An error in the middle of the changes, after the ids.
    trigger = {
        "sqlite": "CREATE TRIGGER refuse BEFORE UPDATE ON users WHEN new.email LIKE 'new9%' "
                  "BEGIN SELECT RAISE(ABORT, 'no change'); END;\n",
        "postgresql": "ALTER TABLE users ADD CONSTRAINT no_change CHECK (email NOT LIKE 'new9%');\n",
        "mysql": "ALTER TABLE users ADD CONSTRAINT no_change CHECK (email NOT LIKE 'new9%');\n",
    }[database.dialect]
    database.sql(trigger)
    script, _ = plan.write("--commit")
    refused(database, script, "change")
    plan.same(story, "after an error in the middle")
    if database.dialect == "mysql":
        forced = subprocess.run(database.command() + ["--force"], stdin=open(script), capture_output=True, text=True)
        assert "no_change" in forced.stderr, forced
    note(database.dialect, "failures", "an error in the middle")

    # Pairs that are not loaded completely.
    plan = Plan(story)
    script, _ = plan.write("--commit")
    text = script.read_text()
    script.write_text("".join(
        line for line in text.splitlines(keepends=True) if not line.startswith("(2,'")))
    refused(database, script, "not loaded completely")
    plan.same(story, "after an incomplete script")
    if database.dialect == "mysql":
        forced = subprocess.run(database.command() + ["--force"], stdin=open(script), capture_output=True, text=True)
        plan.same(story, "with --force after a failed check")
        assert "nothing was changed" in forced.stdout, forced
        note(database.dialect, "failures", "--force after a failed check")
    note(database.dialect, "failures", "an incomplete script")
    check_kills(database, plan, story)
    check_case(database)


def check_kills(database, plan, story):
    """The client is killed after every part of the script."""
    script, _ = plan.write("--commit")
    text = script.read_text()
    lines = text.splitlines(keepends=True)
    for part in range(1, 9):
        client = database.start(subprocess.PIPE)
        try:
            client.stdin.write("".join(lines[: len(lines) * part // 9]))
            client.stdin.flush()
            time.sleep(0.3)
        except BrokenPipeError:
            pass
        client.kill()
        client.communicate()
        time.sleep(0.2)
        plan.same(story, f"killed after part {part}")
    database.run(script)
    plan.same(story.truth(), "run after kills")
    note(database.dialect, "failures", "killed 8 times in the middle")


def check_case(database):
    """Ids that differ by case alone are different ids, whatever the collation says."""
    schema = schemas.AuthJS(database)
    story = Story(schema)
    upper = old_id(1).upper()
    story.identities = [[number, provider, upper if number == 1 and provider == "apple" else user_id, own]
                        for number, provider, user_id, own in story.identities]
    story.states[1] = "absent"
    plan = Plan(story)
    script, _ = plan.write("--commit")
    output = database.run(script)
    assert [row[:2] for row in numbers(output, 2)] == story.counts(), output
    note(database.dialect, "failures", "ids that differ by case")


def check_size(database, count=1_000_000):
    schema = schemas.AuthJS(database)
    database.fresh()
    database.sql(schema.create())
    path = database.folder / "import.jsonl"
    with open(path, "w") as file:
        for number in range(count):
            relay = number % 2 == 0
            file.write(json.dumps({
                "line": number + 1, "transfer_id": f"t{number}", "user_id": new_id(number),
                "old_user_id": old_id(number), "status": "done", "exit_code": 0,
                **({"email": f"new{number}{RELAY}"} if relay else {})}) + "\n")
    with open(database.folder / "fill.sql", "w") as file:
        file.write("START TRANSACTION;\n" if database.dialect != "sqlite" else "BEGIN;\n")
        for start in range(0, count, 1000):
            some = range(start, start + 1000)
            file.write(f"INSERT INTO users VALUES {','.join(f'({n!r},NULL,{address(n)!r})'.replace(f'({n}', f'({str(n)!r}', 1) for n in some)};\n")
            rows = ",".join(f"('{n}','oidc','apple','{old_id(n)}')" for n in some)
            file.write(f"INSERT INTO accounts VALUES {rows};\n")
        file.write("COMMIT;\n")
    database.run(database.folder / "fill.sql")
    began = time.monotonic()
    script, inverse = database.folder / "plan.sql", database.folder / "inverse.sql"
    inverse.unlink(missing_ok=True)
    with open(script, "w") as file:
        process = subprocess.Popen(
            [PRODUCTS / "siwa", "migrate", "plan", "--recipe", "authjs", "--match", "old_user_id", "--dialect",
             database.dialect, "--commit", "--inverse", inverse, path], stdout=file, stderr=subprocess.PIPE, text=True)
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, process.stderr.read()
    planned = time.monotonic()
    output = database.run(script)
    applied = time.monotonic()
    assert numbers(output, 2)[:2] == [["changed", count, 0], ["already_applied", 0, count]], output
    changed = database.rows(f"SELECT COUNT(*) FROM users WHERE email LIKE 'new%{RELAY}'")
    assert changed == [[str(count // 2)]], changed
    database.run(inverse)
    restored = time.monotonic()
    left = database.rows(f"SELECT COUNT(*) FROM accounts WHERE {schema.q('providerAccountId')} LIKE '%.0830'")
    assert left == [[str(count)]], left
    note(database.dialect, f"{count} users", f"plan {planned - began:.0f} s and {usage.ru_maxrss // 1024} MB "
         f"({script.stat().st_size // 1_000_000} MB of SQL), script {applied - planned:.0f} s, "
         f"inverse {restored - applied:.0f} s")


def address(number):
    return f"old{number}{RELAY}" if number % 2 == 0 else f"user{number}@example.com"


def check_input():
    """What is refused before there is a script."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "import.jsonl"

        def refuse(text, *rows):
            path.write_text("".join(json.dumps({"status": "done", **row}) + "\n" for row in rows))
            result = siwa("--recipe", "authjs", "--dialect", "sqlite", "--match", "old_user_id", path, expect=1)
            assert text in result.stderr and not result.stdout, result

        good = {"old_user_id": "a", "user_id": "b"}
        for hostile in ["x'; DROP TABLE users; --", "a\\", "a\nb", "ü", "", "x" * 255, "a b", "`", "$(id)", "a\0"]:
            refuse("line 1", {**good, "old_user_id": hostile})
            refuse("line 1", {**good, "user_id": hostile})
            refuse("line 1", {**good, "email": hostile + "@example.com '"})
        refuse("old_user_id", {"user_id": "b", "transfer_id": "t"})
        refuse("would all become", good, {"old_user_id": "c", "user_id": "b"})
        refuse("would become", good, {"old_user_id": "a", "user_id": "c"})
        refuse("would become", good, {"old_user_id": "b", "user_id": "c"})
        refuse("", good, good)
        refuse("no user with a new id", {"old_user_id": "a", "user_id": "a"})
    note("no database", "input", "hostile ids, two users with one id, one with two, chains and repeats")


def main():
    sites.enter()
    words = sys.argv[2:]
    chosen = [name for name in databases.ALL if name in words] or list(databases.ALL)
    parts = [name for name in ["cases", "failures", "sites", "size"] if name in words] or [
        "cases", "failures", "sites", "size"]
    check_input()
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            database = databases.ALL[name](folder)
            try:
                if "cases" in parts:
                    check_cases(database)
                if "failures" in parts:
                    check_failures(database)
                if "sites" in parts:
                    sites.check(database, PRODUCTS, note)
                if "size" in parts:
                    check_size(database, int(os.environ.get("SIWA_MIGRATION_USERS", "1000000")))
            finally:
                database.stop()
    print_table()
    print(f"{len(passed)} passed")


if __name__ == "__main__":
    main()
