"""What a person with a browser does: opens the URL of a sign-in, picks a user, continues.

sign_in.py URL [USER] prints as JSON what the website's callback receives.
"""

import html.parser
import json
import sys
import urllib.error
import urllib.parse
import urllib.request


class Form(html.parser.HTMLParser):
    """The first form of a page, as a browser would send it."""

    def __init__(self, page):
        super().__init__()
        self.action = ""
        self.fields = {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.action = values["action"]
        elif tag == "input" and (values.get("type") != "radio" or "checked" in values):
            self.fields[values["name"]] = values.get("value", "")


class Stay(urllib.request.HTTPRedirectHandler):
    """The website is not here to be redirected to."""

    def redirect_request(self, *_):
        return None


def sign_in(url, user="alice"):
    """The parameters of the callback."""
    opener = urllib.request.build_opener(Stay)
    with opener.open(url) as answer:
        form = Form(answer.read().decode())
    form.fields.update(user=user, action="continue")
    target = urllib.parse.urljoin(url, form.action)
    try:
        with opener.open(target, urllib.parse.urlencode(form.fields).encode()) as answer:
            return Form(answer.read().decode()).fields
    except urllib.error.HTTPError as redirect:
        location = urllib.parse.urlsplit(redirect.headers["Location"])
        return dict(urllib.parse.parse_qsl(location.query or location.fragment))


if __name__ == "__main__":
    print(json.dumps(sign_in(*sys.argv[1:])))
