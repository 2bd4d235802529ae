import base64, hashlib, json, sys
import jwt  # PyJWT


def verify(group, test):
    kid = jwt.get_unverified_header(test["token"])["kid"]
    key = next(k for k in jwt.PyJWKSet.from_dict(group["jwks"]).keys
               if k.key_id == kid and k.public_key_use in (None, "sig"))
    claims = jwt.decode(test["token"], key, algorithms=["RS256"], audience=group["audiences"],
                        issuer=group["issuer"], options={"require": ["exp", "iat", "aud", "sub"]})
    digest = lambda text: hashlib.sha256(text.encode())
    half = lambda text: base64.urlsafe_b64encode(digest(text).digest()[:16]).rstrip(b"=").decode()
    assert claims.get("nonce") == digest(group["nonce"]).hexdigest()
    for given, claim in (("code", "c_hash"), ("access_token", "at_hash")):
        assert given not in test or claims.get(claim) == half(test[given])


for group in json.load(open(sys.argv[1]))["testGroups"]:
    for test in group["tests"] if group["type"] == "identity-token" else []:
        try:
            verify(group, test)
            accepted = True
        except Exception:
            accepted = False
        if test["result"] not in ("acceptable", "valid" if accepted else "invalid"):
            print(test["tcId"], *test["flags"], test["comment"], "accepted" if accepted else "refused")
