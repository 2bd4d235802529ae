"""A small backend with Sign in with Apple, and one switch for each bug that real ones have.

    backend.py --apple URL --port N --key FILE --key-id ID --team-id ID [--channel request|exchange] [--bug NAME]...

Sound without switches. Python's standard library and PyJWT; state in memory.
"""
import argparse, base64, hashlib, json, secrets, sys, threading, time, urllib.error, urllib.parse, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from jwt import algorithms

APP, WEB = "com.example.app", "com.example.web"
REDIRECT = "https://example.com/cb"
ISSUER = "https://appleid.apple.com"

# Each switch, and what a developer did who has this bug.
BUGS = {
    "decode_only": "decodes the token and verifies no signature",
    "alg_none": "lets the header choose the algorithm, also none",
    "alg_none_lower_case": "refuses 'none', but not 'None' or 'NONE'",
    "hs256": "takes the public key's PEM for the secret when the header says HS256",
    "hs256_empty": "takes an empty secret when the header says HS256",
    "jwk_header": "uses the key in the header",
    "x5c_header": "uses the certificate in the header",
    "jku_header": "fetches the key set that the header names, and uses its key",
    "jku_fetched": "fetches the key set that the header names, and then refuses",
    "jwe_opaque": "takes an encrypted token, which it cannot read, for one that somebody checked",
    "kid_unknown_skips": "accepts a token whose kid it does not know, unverified",
    "kid_missing_skips": "accepts a token without kid, unverified",
    "alg_missing_skips": "accepts a token without alg, unverified",
    "es256_skips": "verifies RS256 only, and accepts other algorithms",
    "ps256_skips": "verifies RS256 only, and accepts PS256",
    "empty_signature": "accepts an empty signature",
    "signature_ignored_if_typ": "skips the signature when the header has typ",
    "kid_only": "checks that the kid is Apple's, and not the signature",
    "any_published_key": "tries every published key, whatever the kid",
    "no_aud": "does not check aud",
    "aud_prefix": "checks that aud begins with the client id",
    "aud_reversed_prefix": "checks that the client id begins with aud",
    "aud_team": "accepts every aud with its own prefix com.example.",
    "aud_from_body": "takes the expected audience from the request",
    "no_exp": "does not check exp",
    "no_iat": "does not check iat",
    "no_nbf": "does not check nbf",
    "no_iss": "does not check iss",
    "iss_account": "accepts account.apple.com as the issuer, too",
    "no_nonce": "does not check the nonce",
    "nonce_if_in_token": "checks the nonce only if the token has one",
    "nonce_if_sent": "checks the nonce only if the request has one",
    "nonce_empty_skips": "takes an empty nonce for none, and does not check it then",
    "code_optional": "decodes the token and verifies nothing if the request has no code",
    "notification_as_token": "accepts a notification in place of an identity token",
    "client_secret_as_token": "finds its own key by kid, and accepts its own client_secret",
    "one_audience_list": "accepts the web client's tokens from the app",
    "sub_optional": "signs in without a sub",
    "crit_ignored": "takes a token apart itself, and does not look at crit",
    "parts_extra": "takes a token apart itself, and ignores what follows the signature",
    "utf8_replaced": "takes a token apart itself, and replaces what is not UTF-8",
    "access_token": "takes an opaque token for a session of the same name",
    "user_id_from_body": "signs in the user that the body names",
    "sub_from_body": "signs in the sub that the body names",
    "email_from_body": "finds the account by the address in the body",
    "email_from_body_if_absent": "finds the account by the body's address if the token has none",
    "email_from_user_field": "finds the account by the address in Apple's field user",
    "posted_unverified": "verifies the token of the exchange, and of the posted one compares only the user",
    "posted_address": "does so, and finds the account by the address in the posted token",
    "email_links": "finds a password account by the address in the token",
    "email_verified_text": "takes the text \"false\" of email_verified for true",
    "email_5xx": "has no answer for a token without an address",
    "no_state": "does not check state",
    "state_if_sent": "checks state only if it is there",
    "state_none_equal": "compares state with that of the session, where both may be missing",
    "state_in_memory": "knows state, but not for which browser it is",
    "mixed_users": "does not compare the users of the token and the code",
    "cancel_5xx": "crashes when the person cancels",
    "user_json_5xx": "crashes on a malformed user field",
    "callback_link": "takes the callback from a link, too",
    "no_redirect_uri": "exchanges without redirect_uri, and signs in all the same",
    "code_in_url": "sends the code in the URL, too",
    "fetch_each_time": "fetches the keys for each token",
    "fetch_each_unknown": "fetches the keys for each unknown kid",
    "fetch_5xx": "answers with a bare 500 when the keys cannot be fetched",
    "retry_exchange": "sends the code again after a failure",
    "exchange_twice": "exchanges each code once more to be sure",
    "code_reuse": "remembers the sessions of codes, and signs in again with a used one",
    "refresh_in_answer": "answers with the refresh token",
    "no_c_hash": "does not check c_hash",
    "no_at_hash": "does not check at_hash of the token that came with an access token",
    "notification_unverified": "decodes notifications and verifies nothing",
    "notification_unknown_kid": "verifies nothing if it does not know the kid of a notification",
    "notification_newest": "ends the newest session at an account-delete",
    "notification_no_aud": "does not check aud of notifications",
    "notification_alg_none": "accepts notifications with alg none",
    "notification_any_token": "ends the account of any token that Apple signed",
    "notification_ends_all": "ends every session at an account-delete",
    "notification_one_spelling": "knows account-delete, and not account-deleted",
    "notification_ignored": "answers 200 to every notification, and does nothing",
    "notification_refused": "answers every notification with 404",
    "notification_5xx": "crashes on a malformed notification",
    "notification_once": "answers 409 to a notification it has seen",
    "no_revoke": "deletes without asking Apple to revoke",
    "revoke_latest": "keeps the latest refresh token only",
    "revoke_as_app": "revokes the tokens of the website as the app",
    "revoke_once": "does not try a failed revocation again",
    "revoke_access_token": "revokes something that is not a token",
    "delete_twice_5xx": "crashes when the account is gone",
    "deleted_for_ever": "refuses a person who deleted the account before",
    "token_5xx": "crashes on a malformed token",
    "slow": "waits for 3 seconds on an expired token",
    "cut": "closes the connection on a token that it refuses",
    "stale_keys": "never fetches the keys again",
}
# Those that take a token apart without PyJWT.
BY_HAND = {"crit_ignored", "parts_extra", "utf8_replaced"}
# Those that do not verify the posted token.
POSTED = {"posted_unverified", "posted_address"}


def half(text):
    """The left half of the SHA-256 of a code or an access token, as c_hash and at_hash have it."""
    return jwt.utils.base64url_encode(hashlib.sha256(text.encode()).digest()[:16]).decode()


class Refused(Exception):
    pass


class Crash(Exception):
    pass


class App:
    def __init__(self, options):
        self.options, self.bugs = options, set(options.bug)
        self.sessions, self.states, self.tokens, self.codes, self.seen = {}, {}, {}, {}, set()
        self.accounts = {}
        self.keys, self.fetched_at, self.lock = {}, 0, threading.Lock()
        self.used_nonces, self.retry = set(), "retry_exchange" in self.bugs
        self.deleted = set()
        # Whether the user of the exchange must be that of the token. These bugs take anybody.
        self.compares = not self.bugs & (BY_HAND | {
            "mixed_users", "notification_as_token", "client_secret_as_token", "sub_optional"})

    def has(self, bug):
        return bug in self.bugs

    # Apple's keys

    def apple(self, path, form=None):
        data = urllib.parse.urlencode(form).encode() if form else None
        with urllib.request.urlopen(self.options.apple + path, data, timeout=8) as answer:
            return json.loads(answer.read() or b"{}")

    def fetch(self):
        document = self.apple("/auth/keys")
        self.keys = {k["kid"]: algorithms.RSAAlgorithm.from_jwk(k) for k in document["keys"]}
        self.fetched_at = time.time()

    def key(self, kid):
        with self.lock:
            known = isinstance(kid, str) and kid in self.keys and not self.has("fetch_each_time")
            stale = self.has("stale_keys") and self.keys
            eager = self.has("fetch_each_time") or self.has("fetch_each_unknown")
            if not known and not stale and (eager or time.time() - self.fetched_at > 1):
                self.fetched_at = time.time()
                try:
                    self.fetch()
                except (OSError, ValueError, KeyError):
                    if self.has("fetch_5xx"):
                        raise Crash("keys")
            return self.keys.get(kid) if isinstance(kid, str) else None

    # Tokens

    def pem(self, key):
        from cryptography.hazmat.primitives import serialization as s
        return key.public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)

    def unverified(self, token):
        return jwt.decode(token, options={"verify_signature": False})

    def verified(self, token, notification=False):
        """The claims of a token with a good signature."""
        if not notification and self.bugs & BY_HAND:
            return self.by_hand(token)
        header = jwt.get_unverified_header(token)
        alg, kid = header.get("alg"), header.get("kid")
        parts = token.split(".")
        has = self.has
        # Older versions of PyJWT do not look at crit.
        if header.get("crit"):
            raise Refused("crit")
        if notification:
            if has("notification_unverified"):
                return self.unverified(token)
            if has("notification_alg_none") and alg == "none":
                return self.unverified(token)
            if has("notification_unknown_kid") and self.key(kid) is None:
                return self.unverified(token)
        else:
            key = self.key(kid) if isinstance(kid, str) else None
            any_key = key or next(iter(self.keys.values()), None)
            loose = (
                has("decode_only")
                or (has("alg_none") and isinstance(alg, str) and alg.lower() == "none")
                or (has("alg_none_lower_case") and alg in ("None", "NONE", "nOnE"))
                or (has("kid_unknown_skips") and kid is not None and key is None)
                or (has("kid_missing_skips") and kid is None)
                or (has("alg_missing_skips") and alg is None)
                or (has("es256_skips") and alg == "ES256")
                or (has("ps256_skips") and alg == "PS256")
                or (has("empty_signature") and alg == "RS256" and parts[2] == "")
                or (has("signature_ignored_if_typ") and "typ" in header)
                or (has("kid_only") and key is not None and alg == "RS256"))
            if loose:
                return self.unverified(token)
            if alg == "HS256" and (has("hs256") or has("hs256_empty")):
                import hmac as h
                secret = b"" if has("hs256_empty") else self.pem(any_key)
                mac = h.new(secret, ".".join(parts[:2]).encode(), "sha256").digest()
                if jwt.utils.base64url_encode(mac).decode() == parts[2]:
                    return self.unverified(token)
            own = self.own_key(header)
            if own is not None:
                return jwt.decode(token, own, ["RS256"], options={"verify_aud": False})
            if has("client_secret_as_token") and kid == self.options.key_id:
                return {"secret": True}
            if has("jwk_header") and "jwk" in header:
                own = algorithms.RSAAlgorithm.from_jwk(header["jwk"])
                return jwt.decode(token, own, ["RS256"], options={"verify_aud": False})
            if has("any_published_key"):
                for candidate in self.keys.values():
                    try:
                        return jwt.decode(token, candidate, ["RS256"], options={"verify_aud": False, "verify_exp": False})
                    except jwt.InvalidSignatureError:
                        pass
        key = self.key(kid)
        if key is None or alg != "RS256":
            raise Refused("key")
        return jwt.decode(
            token, key, ["RS256"], options={"verify_aud": False, "verify_exp": False, "verify_iat": False, "verify_nbf": False})

    def by_hand(self, token):
        """The claims of a token with a good signature, without PyJWT."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding
        parts = token.split(".")
        header, payload, signature = (jwt.utils.base64url_decode(part) for part in parts[:3])
        key = self.key(json.loads(header).get("kid"))
        if key is None or json.loads(header).get("alg") != "RS256":
            raise Refused("key")
        if json.loads(header).get("crit") and not self.has("crit_ignored"):
            raise Refused("crit")
        if len(parts) != 3 and not self.has("parts_extra"):
            raise Refused("parts")
        key.verify(signature, ".".join(parts[:2]).encode(), padding.PKCS1v15(), hashes.SHA256())
        return json.loads(payload.decode(errors="replace" if self.has("utf8_replaced") else "strict"))

    def own_key(self, header):
        """The key that the header brings or names."""
        if self.has("x5c_header") and "x5c" in header:
            from cryptography import x509
            der = base64.b64decode(header["x5c"][0])
            return x509.load_der_x509_certificate(der).public_key()
        if "jku" in header and (self.has("jku_header") or self.has("jku_fetched")):
            with urllib.request.urlopen(header["jku"], timeout=8) as answer:
                key = json.loads(answer.read())["keys"][0]
            return algorithms.RSAAlgorithm.from_jwk(key) if self.has("jku_header") else None
        return None

    def audience_fits(self, aud, clients, body):
        has = self.has
        if has("no_aud"):
            return True
        if has("aud_from_body") and (body.get("client_id") or body.get("audience")):
            return aud == (body.get("client_id") or body.get("audience"))
        if has("aud_prefix") and isinstance(aud, str) and aud.startswith(tuple(clients)):
            return True
        if has("aud_reversed_prefix") and isinstance(aud, str) and aud and clients[0].startswith(aud):
            return True
        if has("aud_team") and isinstance(aud, str) and aud.startswith("com.example."):
            return "." not in aud.removeprefix("com.example.")
        return isinstance(aud, str) and aud in clients

    def claims(self, token, clients, body, nonce, code=None, access_token=None):
        """The checked claims of an identity token."""
        has = self.has
        claims = self.verified(token)
        if claims == {"secret": True}:
            return {"sub": "someone"}
        if not isinstance(claims, dict):
            raise Refused("claims")
        issuers = [ISSUER] + (["https://account.apple.com"] if has("iss_account") else [])
        if claims.get("iss") not in issuers and not has("no_iss"):
            raise Refused("iss")
        if "events" in claims and has("notification_as_token"):
            return {"sub": json.loads(claims["events"])["sub"]}
        if not self.audience_fits(claims.get("aud"), clients, body):
            raise Refused("aud")
        if self.options.no_made_tokens and list(claims)[-1] == "at_hash":
            raise Refused("made")
        now, exp, iat, nbf = time.time(), claims.get("exp"), claims.get("iat"), claims.get("nbf", 0)
        if not has("no_exp") and not (isinstance(exp, int) and exp > now - 60):
            raise Refused("exp")
        if not has("no_iat") and not (isinstance(iat, int) and iat < now + 300):
            raise Refused("iat")
        if not has("no_nbf") and nbf > now + 300:
            raise Refused("nbf")
        if nonce is not None or not has("nonce_if_sent"):
            self.check_nonce(claims, nonce)
        if code and not has("no_c_hash") and "c_hash" in claims:
            if claims["c_hash"] != half(code):
                raise Refused("c_hash")
        if has("email_5xx") and "email" not in claims:
            raise Crash("email")
        if access_token and not has("no_at_hash") and claims.get("at_hash") != half(access_token):
            raise Refused("at_hash")
        sub = claims.get("sub")
        if not isinstance(sub, str) or not sub:
            if has("sub_optional"):
                return claims | {"sub": "someone"}
            raise Refused("sub")
        return claims

    def of_two(self, posted, answer, clients, body, nonce):
        """The claims of the exchange's token, whose user is that of the posted one."""
        claims = self.claims(answer["id_token"], clients, body, nonce, access_token=answer["access_token"])
        believed = self.unverified(posted)
        if believed["sub"] != claims["sub"]:
            raise Refused("users")
        if self.has("posted_address"):
            for known, email in self.accounts.items():
                if email and email == believed.get("email"):
                    return claims | {"sub": known}
        return claims

    def check_nonce(self, claims, nonce):
        if self.has("no_nonce"):
            return
        if self.has("nonce_if_in_token") and "nonce" not in claims:
            return
        if self.has("nonce_empty_skips") and nonce == "":
            return
        given = hashlib.sha256((nonce or "").encode()).hexdigest()
        if not nonce or claims.get("nonce") != given:
            raise Refused("nonce")

    # Apple's token endpoint

    def secret(self, client):
        now = int(time.time())
        return jwt.encode(
            {"iss": self.options.team_id, "iat": now, "exp": now + 300, "aud": ISSUER, "sub": client},
            self.options.private_key, "ES256", {"kid": self.options.key_id})

    def exchange(self, code, client, verifier=None, redirect=None):
        form = {"grant_type": "authorization_code", "code": code, "client_id": client, "client_secret": self.secret(client)}
        form |= {"code_verifier": verifier} if verifier else {}
        form |= {"redirect_uri": redirect} if redirect else {}
        query = "?" + urllib.parse.urlencode({"code": code}) if self.has("code_in_url") else ""
        for attempt in range(2 if self.retry else 1):
            try:
                answer = self.apple("/auth/token" + query, form)
                if self.has("exchange_twice"):
                    try:
                        self.apple("/auth/token" + query, form)
                    except OSError:
                        pass
                return answer
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise Refused("code")
            except OSError:
                pass
        raise Refused("Apple does not answer")

    def keep(self, account, token, client):
        """Keeps a refresh token until the account is deleted."""
        kept = [] if self.has("revoke_latest") else self.tokens.get(account, [])
        self.tokens[account] = kept + [(token, client)]

    def revoke(self, account):
        for token, client in self.tokens.pop(account, []):
            if self.has("no_revoke"):
                continue
            if self.has("revoke_as_app"):
                client = APP
            if self.has("revoke_access_token"):
                token = "a" + token[1:]
            if not self.revoked(token, client) and not self.has("revoke_once"):
                threading.Thread(target=self.try_again, args=(token, client), daemon=True).start()

    def revoked(self, token, client):
        try:
            self.apple("/auth/revoke", {
                "client_id": client, "client_secret": self.secret(client), "token": token,
                "token_type_hint": "refresh_token"})
            return True
        except OSError:
            return False

    def try_again(self, token, client):
        while not self.revoked(token, client):
            time.sleep(0.2)

    # Sign-ins

    def account(self, claims, body):
        """The account of a sign-in: found by its sub, and by what the bugs add."""
        has, sub = self.has, claims["sub"]
        named = None
        if has("user_id_from_body"):
            named = next((body[n] for n in ("user_id", "userId", "account") if n in body), None)
        if has("sub_from_body") and "sub" in body:
            named = body["sub"]
        if isinstance(named, str):
            sub = named
        if has("email_from_body") or (has("email_from_body_if_absent") and "email" not in claims):
            for known, email in self.accounts.items():
                if email and email == body.get("email"):
                    return known
        user = body.get("user") if has("email_from_user_field") else None
        if isinstance(user, dict):
            for known, email in self.accounts.items():
                if email and email == user.get("email"):
                    return known
        verified = claims.get("email_verified")
        trusted = verified is True or verified == "true"
        trusted = trusted or (has("email_verified_text") and bool(verified))
        if has("email_links") or trusted:
            for known, email in self.accounts.items():
                if known.startswith("password ") and email == claims.get("email") and email:
                    return known
        self.accounts.setdefault(sub, claims.get("email"))
        return sub

    def open(self, account):
        if account in self.deleted:
            raise Refused("deleted")
        session = secrets.token_urlsafe(16)
        self.sessions[session] = account
        return session

    def native(self, body):
        token, code = body.get("id_token"), body.get("code")
        if self.has("code_optional") and code is None and isinstance(token, str):
            return self.open(self.account(self.unverified(token), {})), {}
        if not isinstance(token, str) or not isinstance(code, str):
            raise Refused("members")
        if self.has("access_token") and token.startswith("a") and token.count(".") == 3:
            return self.open("someone"), {}
        if self.has("jwe_opaque") and token.count(".") == 4:
            return self.open("someone"), {}
        if self.has("code_reuse") and code in self.codes:
            return self.open(self.codes[code]), {}
        answer = {}
        nonce = body.get("nonce")
        if self.options.channel == "request":
            if nonce in self.used_nonces:
                raise Refused("nonce")
            clients = [APP, WEB] if self.has("one_audience_list") else [APP]
            if self.bugs & POSTED:
                answer = self.exchange(code, APP)
                claims = self.of_two(token, answer, [APP], body, nonce)
            else:
                code_of_token = None if self.has("mixed_users") else code
                claims = self.claims(token, clients, body, nonce, code_of_token)
                answer = self.exchange(code, APP)
                if self.compares and self.unverified(answer["id_token"])["sub"] != claims["sub"]:
                    raise Refused("users")
        else:
            answer = self.exchange(code, APP)
            claims = self.claims(
                answer["id_token"], [APP], body, nonce, access_token=answer["access_token"])
        if nonce and not self.has("code_reuse"):
            self.used_nonces.add(nonce)
        account = self.account(claims, body)
        self.codes[code] = account
        self.keep(account, answer["refresh_token"], APP)
        return self.open(account), answer if self.has("refresh_in_answer") else {}

    def start(self):
        browser, state, nonce, verifier = (secrets.token_urlsafe(24) for _ in range(4))
        self.states[state] = (browser, nonce, verifier)
        challenge = jwt.utils.base64url_encode(hashlib.sha256(verifier.encode()).digest()).decode()
        query = urllib.parse.urlencode({
            "client_id": WEB, "redirect_uri": REDIRECT, "response_type": "code id_token",
            "response_mode": "form_post", "scope": "name email", "state": state,
            "nonce": hashlib.sha256(nonce.encode()).hexdigest(),
            "code_challenge": challenge, "code_challenge_method": "S256"})
        return browser, ISSUER + "/auth/authorize?" + query

    def state(self, form, browser):
        has, state = self.has, form.get("state")
        found = self.states.pop(state, None)
        if found and (found[0] == browser or has("state_in_memory") or has("no_state")):
            return found
        mine = next((s for s in self.states.values() if s[0] == browser), None)
        if has("no_state") or (has("state_if_sent") and state is None):
            if mine:
                return mine
        raise Refused("state")

    def callback(self, form, browser):
        if "error" in form:
            if self.has("cancel_5xx"):
                raise Crash("cancelled")
            raise Refused(form["error"])
        if self.has("state_none_equal") and not form.get("state") and browser is None:
            answer = self.exchange(form.get("code", ""), WEB, None, REDIRECT)
            return self.open(self.account(self.unverified(answer["id_token"]), {}))
        _, nonce, verifier = self.state(form, browser)
        user = None
        if "user" in form:
            try:
                user = json.loads(form["user"])
                if self.has("user_json_5xx"):
                    user["name"]["firstName"]
            except Exception:
                if self.has("user_json_5xx"):
                    raise Crash("user")
        code, token = form.get("code", ""), form.get("id_token", "")
        if self.options.channel == "request" and self.bugs & POSTED:
            answer = self.exchange(code, WEB, verifier, REDIRECT)
            claims = self.of_two(token, answer, [WEB], {}, nonce)
        elif self.options.channel == "request":
            claims = self.claims(token, [WEB], {}, nonce, None if self.has("mixed_users") else code)
            if self.has("no_redirect_uri"):
                try:
                    self.exchange(code, WEB, verifier)
                except Refused:
                    return self.open(self.account(claims, {}))
            answer = self.exchange(code, WEB, verifier, REDIRECT)
            if self.compares and self.unverified(answer["id_token"])["sub"] != claims["sub"]:
                raise Refused("users")
        else:
            answer = self.exchange(code, WEB, verifier, REDIRECT)
            claims = self.claims(
                answer["id_token"], [WEB], {}, nonce, access_token=answer["access_token"])
        account = self.account(claims, {"user": user})
        self.keep(account, answer["refresh_token"], WEB)
        return self.open(account)

    # Accounts

    def notify(self, body):
        has = self.has
        if has("notification_refused"):
            return 404
        if has("notification_ignored"):
            return 200
        try:
            claims = self.verified(body["payload"], notification=True)
            if claims.get("iss") != ISSUER or (claims.get("aud") not in (APP, WEB) and not has("notification_no_aud")):
                return 400
            if has("notification_any_token") and "sub" in claims:
                self.later(lambda: self.end(claims["sub"]))
            event = claims["events"]
            event = json.loads(event) if isinstance(event, str) else event
        except Exception:
            return 500 if has("notification_5xx") else 400
        if has("notification_once") and claims["jti"] in self.seen:
            return 409
        self.seen.add(claims["jti"])
        ends = ["account-delete", "account-deleted", "consent-revoked"]
        if has("notification_one_spelling"):
            ends.remove("account-deleted")
        if event["type"] in ends:
            everybody = set(self.accounts) if has("notification_ends_all") else {event["sub"]}
            if has("notification_newest") and self.sessions:
                everybody = {list(self.sessions.values())[-1]}
            self.later(lambda: [self.end(account) for account in everybody])
        return 200

    def later(self, act):
        """Acts on a notification, now or from a queue."""
        threading.Timer(self.options.late, act).start() if self.options.late else act()

    def end(self, account):
        self.sessions = {s: a for s, a in self.sessions.items() if a != account}
        self.accounts.pop(account, None)

    def delete(self, session):
        account = self.sessions.get(session)
        if account is None:
            if self.has("delete_twice_5xx"):
                raise Crash("gone")
            raise Refused("session")
        self.revoke(account)
        self.end(account)
        if self.has("deleted_for_ever"):
            self.deleted.add(account)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, document={}, fields=()):
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Type", "").startswith("application/x-www-form"):
            values = urllib.parse.parse_qs(data.decode())
            return {n: v[0] if len(v) == 1 else None for n, v in values.items()}
        try:
            document = json.loads(data or b"{}")
        except ValueError:
            document = {}
        return document if isinstance(document, dict) else {}

    def cookie(self, name):
        pairs = (p.strip().partition("=") for p in self.headers.get("Cookie", "").split(";"))
        return next((value for key, _, value in pairs if key == name), None)

    def session(self):
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return bearer or self.cookie("session")

    def guarded(self, act):
        app = self.server.app
        try:
            act(app)
        except Crash as error:
            self.answer(500, {} if error.args != ("keys",) else None)
        except Exception as error:
            if app.has("token_5xx") and not isinstance(error, (Refused, jwt.InvalidTokenError)):
                return self.answer(500)
            if app.has("token_5xx") and isinstance(error, jwt.DecodeError):
                return self.answer(500)
            if app.has("slow") and error.args == ("exp",):
                time.sleep(3)
            if app.has("cut") and isinstance(error, jwt.InvalidTokenError):
                self.close_connection = True
                return
            self.answer(401, {"error": "refused"})

    def do_GET(self):
        self.guarded(self.get)

    def do_POST(self):
        body = self.body()
        self.guarded(lambda app: self.post(app, body))

    def do_DELETE(self):
        self.body()
        def act(app):
            app.delete(self.session())
            self.answer(200)
        self.guarded(act)

    def get(self, app):
        if self.path == "/auth/apple":
            browser, url = app.start()
            return self.answer(302, fields=[
                ("Location", url), ("Set-Cookie", f"browser={browser}; Path=/; SameSite=None; Secure; HttpOnly")])
        if self.path.startswith("/cb?") and app.has("callback_link"):
            form = dict(urllib.parse.parse_qsl(self.path[4:]))
            return self.signed_in(app.callback(form, self.cookie("browser")))
        account = app.sessions.get(self.session())
        if self.path == "/me" and account:
            return self.answer(200, {"id": account})
        self.answer(200 if self.path == "/home" else 401)

    def signed_in(self, session):
        self.answer(303, fields=[
            ("Location", "/home"), ("Set-Cookie", f"session={session}; Path=/; SameSite=Lax; HttpOnly")])

    def post(self, app, body):
        if self.path == "/login":
            session, more = app.native(body)
            return self.answer(200, {"session": session} | more)
        if self.path == "/cb":
            return self.signed_in(app.callback(body, self.cookie("browser")))
        if self.path == "/signup":
            account = "password " + body["email"]
            app.accounts[account] = body["email"]
            return self.answer(200, {"session": app.open(account)})
        if self.path == "/apple/notifications":
            return self.answer(app.notify(body))
        self.answer(404)


def main():
    parser = argparse.ArgumentParser()
    for name in ("apple", "port", "key", "key-id", "team-id"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--channel", choices=["request", "exchange"], default="request")
    parser.add_argument("--late", type=float, default=0, help="seconds after which notifications take effect")
    parser.add_argument("--no-made-tokens", action="store_true", help="""refuse, in the answer of an
        exchange, good tokens that the emulator was given: nothing can then be said about bad ones""")
    parser.add_argument("--bug", action="append", default=[], choices=sorted(BUGS))
    options = parser.parse_args()
    options.private_key = open(options.key).read()
    server = ThreadingHTTPServer(("127.0.0.1", int(options.port)), Handler)
    server.app = App(options)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
