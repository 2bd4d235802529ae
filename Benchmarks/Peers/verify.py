# verify.py JWKS TOKENS RESULTS: verifies a token a line with PyJWT and writes a line for each.
import json
import sys

import jwt

keys = {key["kid"]: jwt.PyJWK(key).key for key in json.load(open(sys.argv[1]))["keys"]}
with open(sys.argv[3], "w") as results:
    for number, line in enumerate(open(sys.argv[2]), 1):
        token = line.strip()
        try:
            key = keys[jwt.get_unverified_header(token)["kid"]]
            claims = jwt.decode(token, key, algorithms=["RS256"], audience="com.example.app",
                                issuer="https://appleid.apple.com")
            results.write(json.dumps({"line": number, "valid": True, "claims": claims}) + "\n")
        except (jwt.PyJWTError, KeyError) as error:
            results.write(json.dumps({"line": number, "valid": False, "error": str(error)}) + "\n")
