"""A server application that leaves Sign in with Apple to siwa-server.

    app.py PORT     with SIWA_API and SIWA_TOKEN set (scopes: exchange, revoke, read), and with NOTIFICATIONS, the
                    URL of siwa-server's listener for Apple, to which a proxy would lead
"""
import http.server, json, os, secrets, sys, threading, urllib.error, urllib.request

sessions, nonces = {}, set()


def call(url, body=None, headers={}):
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} | headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, {}


def siwa(path, body=None):
    token = {"Authorization": "Bearer " + os.environ["SIWA_TOKEN"]}
    return call(f"{os.environ['SIWA_API']}/v1/{path}", body, token)


def sign_in(body):
    code, nonce = body.get("code"), body.get("nonce")
    if not isinstance(code, str) or not isinstance(nonce, str) or nonce in nonces:
        return 401, {}  # a nonce is good for one sign-in
    nonces.add(nonce)
    status, answer = siwa("exchange", {"code": code, "nonce": nonce, "client_id": "com.example.app"})
    if status != 200:
        return 401, {}
    session = secrets.token_urlsafe()
    sessions[session] = answer["user_id"]
    return 200, {"session": session}


def end_sessions(user_id):
    for session in [session for session, user in sessions.items() if user == user_id]:
        del sessions[session]


def follow_events(cursor=""):
    while True:
        status, page = siwa(f"events?wait=30&types=consent-revoked,account-deleted{cursor and '&after=' + cursor}")
        for event in page.get("events", []):
            end_sessions(event["user_id"])
        cursor = page.get("cursor", cursor) or cursor


class App(http.server.BaseHTTPRequestHandler):
    def answer(self, status, document={}):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def user(self):
        return sessions.get(self.headers.get("Authorization", "").removeprefix("Bearer "))

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/apple/notifications":
            return self.answer(call(os.environ["NOTIFICATIONS"], data)[0])
        self.answer(*sign_in(json.loads(data)))

    def do_GET(self):
        self.answer(200, {"id": self.user()}) if self.user() else self.answer(401)

    def do_DELETE(self):
        if user := self.user():
            siwa("revoke", {"user_id": user})  # siwa-server keeps trying
            end_sessions(user)
        self.answer(200 if user else 401)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    threading.Thread(target=follow_events, daemon=True).start()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), App)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
