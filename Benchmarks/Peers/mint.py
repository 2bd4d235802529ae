# mint.py KEY COUNT: mints client_secrets as PyJWT's documentation shows, the key read once.
import sys
import time

import jwt

key, count = open(sys.argv[1]).read(), int(sys.argv[2])
private = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256).prepare_key(key)
start = time.perf_counter()
for _ in range(count):
    now = int(time.time())
    claims = {"iss": "A1B2C3D4E5", "iat": now, "exp": now + 300,
              "aud": "https://appleid.apple.com", "sub": "com.example.app"}
    jwt.encode(claims, private, algorithm="ES256", headers={"kid": "K1L2M3N4P5"})
print(count / (time.perf_counter() - start))
