#!/bin/sh
# jtis.sh FOLDER: the jti of every event that a server of start.sh has stored, a line each. The server has ended.
exec python3 -c '
import sqlite3, sys
for (jti,) in sqlite3.connect(sys.argv[1]).execute("SELECT jti FROM inbox_event"):
    print(jti)' "$1/vault.db"
