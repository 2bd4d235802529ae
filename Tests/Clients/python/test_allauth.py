"""django-allauth: a whole website, from the sign-in button to the account."""

import django
from django.conf import settings
from sign_in import sign_in


def configure(team):
    settings.configure(
        SECRET_KEY="test",
        ALLOWED_HOSTS=["example.com"],
        ROOT_URLCONF="test_allauth",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "allauth",
            "allauth.account",
            "allauth.socialaccount",
            "allauth.socialaccount.providers.apple",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "allauth.account.middleware.AccountMiddleware",
        ],
        AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
        SOCIALACCOUNT_STORE_TOKENS=True,
        SOCIALACCOUNT_QUERY_EMAIL=True,
        ACCOUNT_EMAIL_VERIFICATION="none",
        SOCIALACCOUNT_PROVIDERS={
            "apple": {
                "APPS": [
                    {
                        "client_id": team.client_id,
                        "secret": team.key_id,
                        "key": team.team_id,
                        "settings": {"certificate_key": team.key},
                    }
                ]
            }
        },
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": ["django.template.context_processors.request"]
                },
            }
        ],
    )
    django.setup()


urlpatterns = []


def test_signs_in(team):
    configure(team)
    from django.core.management import call_command
    from django.test import Client
    from django.urls import include, path

    urlpatterns.append(path("accounts/", include("allauth.urls")))
    call_command("migrate", verbosity=0)
    browser = Client(headers={"host": "example.com"})
    begun = browser.post("/accounts/apple/login/", secure=True)
    assert begun.status_code == 302, begun.content
    callback = sign_in(begun["Location"])
    posted = browser.post("/accounts/apple/login/callback/", callback, secure=True)
    assert posted.status_code == 302, posted.content
    finished = browser.get(posted["Location"], secure=True)
    assert finished.status_code == 302, finished.content

    from allauth.socialaccount.models import SocialAccount, SocialToken

    account = SocialAccount.objects.get()
    assert account.provider == "apple" and account.user.email == "alice@example.com"
    assert SocialToken.objects.get().token_secret.startswith("r")
