"""The databases of applications, each with the client program that its users run scripts with."""

import os
import pathlib
import pwd
import shutil
import subprocess
import time


class Failed(Exception):
    """A client program ended with an error."""


class Database:
    """A server, or a file, and what its SQL says differently in the test's own schemas."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = "test0"
        self.number = 0

    def fresh(self):
        """Goes on with an empty database."""
        self.number += 1
        self.name = f"test{self.number}"
        self.create()

    def command(self):
        raise NotImplementedError

    def start(self, script):
        """Starts the client with a script, as a database administrator does."""
        return subprocess.Popen(
            self.command(), stdin=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.environment())

    def environment(self):
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def run(self, path):
        """Runs a script; what it printed. Raises Failed."""
        with open(path) as script:
            process = self.start(script)
            output, errors = process.communicate(timeout=1200)
        if process.returncode:
            raise Failed(output + errors)
        return output

    def sql(self, text):
        path = self.folder / "statement.sql"
        path.write_text(self.prelude + text)
        return self.run(path)

    def rows(self, query):
        return [line.split("|") for line in self.sql(self.bare(query)).splitlines() if line]

    prelude = ""

    def stop(self):
        pass


class SQLite(Database):
    dialect = "sqlite"
    json = "TEXT"
    prelude = ".bail on\n"

    def create(self):
        pass

    def file(self):
        return self.folder / f"{self.name}.db"

    def command(self):
        return ["sqlite3", str(self.file())]

    def bare(self, query):
        return ".headers off\n" + query + ";\n"

    def member(self, column, name):
        return f"json_extract({column}, '$.{name}')"

    def uuid_number(self, column):
        """The number that is in a UUID."""
        return f"CAST(substr({column}, 25) AS INTEGER)"

    def quoted(self, name):
        return f'"{name}"'

    def django(self):
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(self.file())}


class PostgreSQL(Database):
    dialect = "postgresql"
    json = "jsonb"
    prelude = "\\set ON_ERROR_STOP on\n\\set QUIET on\n"

    def __init__(self, folder):
        super().__init__(folder)
        self.data = self.folder / "postgres"
        self.data.mkdir()
        self.programs = sorted(
            pathlib.Path("/usr/lib/postgresql").glob("*/bin"),
            key=lambda path: float(path.parent.name))[-1]
        self.user = []
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            self.folder.chmod(0o711)
            os.chown(self.data, owner.pw_uid, owner.pw_gid)
            self.user = ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}",
                         "--clear-groups", "--"]
        subprocess.run(
            self.user + [self.programs / "initdb", "-D", self.data / "data", "-U", "siwa", "-A",
                         "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8",
                         "--locale-provider=icu", "--icu-locale=en-US"],
            check=True, stdout=subprocess.DEVNULL)
        self.server = subprocess.Popen(
            self.user + [self.programs / "postgres", "-D", self.data / "data", "-k", self.data,
                         "-c", "listen_addresses=", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "postgres.log", "w"))
        wait(lambda: not subprocess.run(
            ["psql", "-X", "-h", self.data, "-U", "siwa", "-d", "postgres", "-c", "SELECT 1"],
            capture_output=True).returncode)

    def create(self):
        subprocess.run(
            ["createdb", "-h", self.data, "-U", "siwa", self.name], check=True)

    def command(self):
        return ["psql", "-X", "-h", str(self.data), "-U", "siwa", "-d", self.name]

    def bare(self, query):
        return "\\pset format unaligned\n\\pset tuples_only on\n" + query + ";\n"

    def member(self, column, name):
        return f"{column} ->> '{name}'"

    def uuid_number(self, column):
        return f"CAST(substr({column}::text, 25) AS bigint)"

    def quoted(self, name):
        return ".".join(f'"{part}"' for part in name.split("."))

    def django(self):
        return {"ENGINE": "django.db.backends.postgresql", "NAME": self.name, "USER": "siwa",
                "HOST": str(self.data)}

    def stop(self):
        # The server's own process is the child of setpriv, which has become it.
        self.server.send_signal(3)
        self.server.wait()


class MariaDB(Database):
    dialect = "mysql"
    json = "JSON"

    def __init__(self, folder):
        super().__init__(folder)
        data = self.folder / "mariadb"
        self.socket = self.folder / "mariadb.socket"
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}",
             "--auth-root-authentication-method=normal", "--skip-test-db"]
            + (["--user=root"] if os.geteuid() == 0 else []),
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        program = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
        self.server = subprocess.Popen(
            [program, "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
             "--skip-networking", f"--pid-file={self.folder}/mariadb.pid",
             "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=256M",
             "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"]
            + (["--user=root"] if os.geteuid() == 0 else []),
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "mariadb.log", "w"))
        wait(lambda: not subprocess.run(
            self.base() + ["-e", "SELECT 1"], capture_output=True).returncode)

    def base(self):
        return ["mysql", "--no-defaults", "-u", "root", f"--socket={self.socket}"]

    def create(self):
        subprocess.run(self.base() + ["-e", f"CREATE DATABASE {self.name}"], check=True)

    def command(self):
        return self.base() + [self.name]

    def rows(self, query):
        path = self.folder / "statement.sql"
        path.write_text(query + ";\n")
        with open(path) as script:
            output = subprocess.run(
                self.command() + ["-N", "-B"], stdin=script, capture_output=True, text=True,
                check=True).stdout
        return [["" if value == "NULL" else value for value in line.split("\t")]
                for line in output.splitlines()]

    def member(self, column, name):
        return f"JSON_UNQUOTE(JSON_EXTRACT({column}, '$.{name}'))"

    def uuid_number(self, column):
        return f"CAST(SUBSTRING({column}, 25) AS SIGNED)"

    def quoted(self, name):
        return f"`{name}`"

    def django(self):
        return {"ENGINE": "django.db.backends.mysql", "NAME": self.name, "USER": "root",
                "HOST": "localhost", "OPTIONS": {"unix_socket": str(self.socket)}}

    def stop(self):
        self.server.terminate()
        self.server.wait()


def wait(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise Failed("the server did not start")
        time.sleep(0.1)


ALL = {"sqlite": SQLite, "postgresql": PostgreSQL, "mysql": MariaDB}
