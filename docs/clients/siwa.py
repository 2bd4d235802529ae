# python3 siwa.py
import json, os, urllib.request

def siwa(call, body):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["SIWA_TOKEN"]}
    url = f"{os.environ['SIWA_API']}/v1/{call}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:  # raises HTTPError for problems
        return json.load(answer)

user_id = siwa("exchange", {"code": os.environ["CODE"]})["user_id"]  # at sign-in
print(user_id, str(siwa("revoke", {"user_id": user_id}).get("revoked", "pending")).lower())  # at deletion
