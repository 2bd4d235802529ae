# receiver.py PORT JWKS DATABASE: what a team would write in Python in place of siwa-server. Takes notifications, each
# committed and synced before it is answered, and verifies identity tokens.
import json
import sqlite3
import sys
import time

import jwt
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

keys = {key["kid"]: jwt.PyJWK(key).key for key in json.load(open(sys.argv[2]))["keys"]}
database = sqlite3.connect(sys.argv[3], isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute("CREATE TABLE IF NOT EXISTS inbox (jti TEXT PRIMARY KEY, received_at REAL, type TEXT, "
                 "user_id TEXT, event_time INTEGER, event TEXT)")


def claims(token):
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=["RS256"], audience="com.example.app",
                      issuer="https://appleid.apple.com")


async def notification(request: Request):
    try:
        payload = json.loads(await request.body())["payload"]
        found = claims(payload)
        event = json.loads(found["events"])
        row = (found["jti"], time.time(), event["type"], event["sub"], event["event_time"], found["events"])
    except jwt.PyJWTError:
        return Response(status_code=401)
    except (ValueError, KeyError, TypeError):
        return Response(status_code=400)
    # Commits by itself.
    database.execute("INSERT OR IGNORE INTO inbox VALUES (?, ?, ?, ?, ?, ?)", row)
    return Response(status_code=200)


async def verify(request: Request):
    try:
        return JSONResponse({"valid": True, "claims": claims(json.loads(await request.body())["id_token"])})
    except (jwt.PyJWTError, KeyError) as error:
        return JSONResponse({"valid": False, "error": str(error)})


uvicorn.run(
    Starlette(routes=[Route("/apple/notifications", notification, methods=["POST"]),
                      Route("/v1/verify", verify, methods=["POST"])]),
    host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
