"""A website of Django, configured by its environment: the tables come from the packages' migrations."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def migrate(database, app):
    run(database, app, "migrate")


def run(database, app, *words, env={}):
    """Runs this file as a program, in a process that belongs to one database."""
    subprocess.run(
        [sys.executable, __file__, *words], check=True, stdout=sys.stderr,
        env=dict(os.environ, SITE_DATABASE=json.dumps(database.django()), SITE_APP=app,
                 PYTHONDONTWRITEBYTECODE="1", **env))


def configure(**more):
    import django
    from django.conf import settings

    database = json.loads(os.environ["SITE_DATABASE"])
    if database["ENGINE"].endswith("mysql"):
        import pymysql
        # Django asks for a version of another package with the same interface.
        pymysql.version_info = (2, 2, 1, "final", 0)
        pymysql.install_as_MySQLdb()
    apps = {
        "allauth": ["allauth", "allauth.account", "allauth.socialaccount",
                    "allauth.socialaccount.providers.apple"],
        "social_django": ["social_django"],
    }[os.environ["SITE_APP"]]
    settings.configure(
        SECRET_KEY="test", ALLOWED_HOSTS=["example.com"], USE_TZ=True, DATABASES={"default": database},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
                        "django.contrib.messages"] + apps,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", ROOT_URLCONF="urls_of_site",
        MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware",
                    "django.contrib.auth.middleware.AuthenticationMiddleware",
                    "django.contrib.messages.middleware.MessageMiddleware"]
        + (["allauth.account.middleware.AccountMiddleware"] if "allauth" in apps else []),
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                    "OPTIONS": {"context_processors": ["django.template.context_processors.request"]}}],
        **more)
    django.setup()


def sign_in_once(user, picture):
    """Signs a user in, and writes which account answers: {"account", "id"}."""
    import types

    sys.path.insert(0, str(HERE.parent / "Clients"))
    from sign_in import sign_in

    team = json.loads(os.environ["SITE_TEAM"])
    isAllauth = os.environ["SITE_APP"] == "allauth"
    if isAllauth:
        configure(
            AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
            SOCIALACCOUNT_QUERY_EMAIL=True, ACCOUNT_EMAIL_VERIFICATION="none",
            SOCIALACCOUNT_PROVIDERS={"apple": {"APPS": [{
                "client_id": team["client_id"], "secret": team["key_id"], "key": team["team_id"],
                "settings": {"certificate_key": team["key"]}}]}})
    else:
        configure(
            AUTHENTICATION_BACKENDS=["social_core.backends.apple.AppleIdAuth"],
            SOCIAL_AUTH_APPLE_ID_CLIENT=team["client_id"], SOCIAL_AUTH_APPLE_ID_TEAM=team["team_id"],
            SOCIAL_AUTH_APPLE_ID_KEY=team["key_id"], SOCIAL_AUTH_APPLE_ID_SECRET=team["key"],
            SOCIAL_AUTH_APPLE_ID_SCOPE=["name", "email"], SOCIAL_AUTH_REDIRECT_IS_HTTPS=True)
    from django.test import Client
    from django.urls import include, path

    urls = types.ModuleType("urls_of_site")
    urls.urlpatterns = [path("accounts/", include("allauth.urls"))] if isAllauth else [
        path("", include("social_django.urls", namespace="social"))]
    sys.modules["urls_of_site"] = urls
    begin, callback = (
        ("/accounts/apple/login/", "/accounts/apple/login/callback/") if isAllauth
        else ("/login/apple-id/", "/complete/apple-id/"))
    browser = Client(headers={"host": "example.com"})
    begun = browser.post(begin, secure=True)
    assert begun.status_code == 302, begun.content
    answer = browser.post(callback, sign_in(begun["Location"], user), secure=True)
    if isAllauth:
        answer = browser.get(answer["Location"], secure=True)
    assert answer.status_code == 302, answer.content
    from django.contrib.auth.models import User

    account = User.objects.get(pk=browser.session["_auth_user_id"])
    pathlib.Path(picture).write_text(json.dumps({"account": account.pk, "email": account.email}))


if __name__ == "__main__":
    if sys.argv[1] == "migrate":
        configure()
        from django.core.management import call_command

        call_command("migrate", verbosity=0, run_syncdb=True)
    else:
        sign_in_once(sys.argv[2], sys.argv[3])
