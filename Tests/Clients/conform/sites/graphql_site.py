"""A GraphQL server with a sign-in as PyJWT's documentation has it: graphql_site.py --port N

It reaches Apple at https://appleid.apple.com.
"""
import argparse, hashlib, json, secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from graphql import build_schema, graphql_sync

SCHEMA = build_schema("""
    type Query { me: Account }
    type Account { id: ID! }
    type Mutation { signInWithApple(idToken: String!, nonce: String!): Session }
    type Session { token: String! }
""")
keys = jwt.PyJWKClient("https://appleid.apple.com/auth/keys")
sessions, nonces = {}, set()


class Root:
    def __init__(self, bearer):
        self.bearer = bearer

    def me(self, _):
        account = sessions.get(self.bearer)
        return {"id": account} if account else None

    def signInWithApple(self, _, idToken, nonce):
        claims = jwt.decode(
            idToken, keys.get_signing_key_from_jwt(idToken), algorithms=["RS256"], audience="com.example.app",
            issuer="https://appleid.apple.com",
            options={"require": ["exp", "iat", "iss", "aud", "sub"], "strict_aud": True})
        if claims.get("nonce") != hashlib.sha256(nonce.encode()).hexdigest() or nonce in nonces:
            raise ValueError("nonce")
        nonces.add(nonce)
        token = secrets.token_urlsafe()
        sessions[token] = claims["sub"]
        return {"token": token}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        result = graphql_sync(SCHEMA, body["query"], Root(bearer), variable_values=body.get("variables"))
        answer = json.dumps(result.formatted).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
