"""A Django site as the documentation of django-allauth or of python-social-auth has it, and one page that names
the account.

    site.py allauth|social-auth --apple FOLDER --port N

It reaches Apple at https://appleid.apple.com. FOLDER is what `siwa-emulator init` made.
"""
import argparse, json, pathlib, sys, tempfile
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import include, path

sys.modules["site_urls"] = sys.modules[__name__]
APP, WEB = "com.example.app", "com.example.web"


def me(request):
    """The account of a browser's session, or of an app's token."""
    user = request.user
    if token := request.headers.get("X-Session-Token"):
        from allauth.headless.internal.sessionkit import authenticate_by_x_session_token
        found = authenticate_by_x_session_token(token)
        user = found[0] if found else user
    return JsonResponse({"id": user.pk} if user.is_authenticated else {}, status=200 if user.is_authenticated else 401)


def home(request):
    return JsonResponse({})


def button(request):
    """The page with the button of python-social-auth, which takes a POST with Django's CSRF token."""
    token = f'<input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
    return HttpResponse(f'<form method="post" action="/login/apple-id/">{token}<button>Sign in</button></form>')


ALLAUTH = dict(
    INSTALLED_APPS=["allauth", "allauth.account", "allauth.socialaccount", "allauth.headless",
                    "allauth.socialaccount.providers.apple"],
    MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"],
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    ACCOUNT_DEFAULT_HTTP_PROTOCOL="https", ACCOUNT_EMAIL_VERIFICATION="none", SOCIALACCOUNT_QUERY_EMAIL=True,
    HEADLESS_CLIENTS=("app",),
)
SOCIAL_AUTH = dict(
    INSTALLED_APPS=["social_django"], MIDDLEWARE=["social_django.middleware.SocialAuthExceptionMiddleware"],
    LOGIN_ERROR_URL="/refused",
    AUTHENTICATION_BACKENDS=["social_core.backends.apple.AppleIdAuth"],
    SOCIAL_AUTH_REDIRECT_IS_HTTPS=True, SOCIAL_AUTH_APPLE_ID_SCOPE=["name", "email"],
    # Apple's form comes from another site: the session's cookie must come with it.
    SESSION_COOKIE_SAMESITE="None", SESSION_COOKIE_SECURE=True,
)


def of_team(kind, folder):
    """The settings that name the team, its key and its clients."""
    profile = json.loads((folder / "config.json").read_text())["profiles"]["web"]
    key = (folder / profile["private_key"]).read_text()
    if kind == "allauth":
        app = {"client_id": f"{WEB},{APP}", "secret": profile["key_id"], "key": profile["team_id"],
               "settings": {"certificate_key": key}}
        return {"SOCIALACCOUNT_PROVIDERS": {"apple": {"APPS": [app]}}}
    names = {"CLIENT": WEB, "TEAM": profile["team_id"], "KEY": profile["key_id"], "SECRET": key}
    return {f"SOCIAL_AUTH_APPLE_ID_{name}": value for name, value in names.items()}


def configure(kind, folder, database):
    of_kind = dict(ALLAUTH if kind == "allauth" else SOCIAL_AUTH)
    django_apps = ["auth", "contenttypes", "sessions", "messages"]
    session = ["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
               "django.contrib.auth.middleware.AuthenticationMiddleware",
               "django.contrib.messages.middleware.MessageMiddleware"]
    settings.configure(
        SECRET_KEY="of a test", ALLOWED_HOSTS=["*"], ROOT_URLCONF="site_urls", LOGIN_REDIRECT_URL="/home",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database, "OPTIONS": {"timeout": 20}}},
        INSTALLED_APPS=[f"django.contrib.{name}" for name in django_apps] + of_kind.pop("INSTALLED_APPS"),
        MIDDLEWARE=session + of_kind.pop("MIDDLEWARE"), DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        LOGGING_CONFIG=None,
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {
            "context_processors": ["django.template.context_processors.request"]}}],
        **of_kind, **of_team(kind, folder))
    django.setup()


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["allauth", "social-auth"])
    parser.add_argument("--apple", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        configure(options.kind, options.apple, folder + "/site.db")
        from django.core.management import call_command
        from django.core.wsgi import get_wsgi_application
        global urlpatterns
        urlpatterns = [path("me", me), path("home", home)]
        if options.kind == "allauth":
            urlpatterns += [path("accounts/", include("allauth.urls")), path("_allauth/", include("allauth.headless.urls"))]
        else:
            urlpatterns += [path("sign-in", button), path("", include("social_django.urls", namespace="social"))]
        call_command("migrate", verbosity=0)
        server = make_server("127.0.0.1", options.port, get_wsgi_application(), Server, Quiet)
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
