# revoke.py URL CA SECRET TOKENS COUNT: revokes with Python's own library only, 16 threads
# with a kept connection each.
import http.client
import ssl
import sys
import threading
import urllib.parse

url = urllib.parse.urlparse(sys.argv[1])
context = ssl.create_default_context(cafile=sys.argv[2])
secret = open(sys.argv[3]).read().strip()
tokens = open(sys.argv[4]).read().split()[: int(sys.argv[5])]
work, lock = iter(tokens), threading.Lock()


def revoke():
    connection = http.client.HTTPSConnection(url.hostname, url.port, context=context)
    while True:
        with lock:
            token = next(work, None)
        if token is None:
            return
        body = urllib.parse.urlencode({
            "client_id": "com.example.app", "client_secret": secret, "token": token,
            "token_type_hint": "refresh_token"})
        connection.request("POST", url.path, body,
                           {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status


threads = [threading.Thread(target=revoke) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
