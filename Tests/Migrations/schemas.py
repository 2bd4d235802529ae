"""The schemas of applications, by their documentation (docs/migration.md), and how a user is stored.

Each schema stores an account with an address, and identities of it: (provider, id, copy of the
address). What is read back has the same form, and every copy of an id or an address.
"""


class Schema:
    recipe = "custom"
    dialects = ("sqlite", "postgresql", "mysql")
    options = ()
    #: Whether an account can have two identities of one provider.
    links = True
    provider = "apple"
    users = "users"
    #: Whether addresses are changed, and whether only if the provider's own copy is the same.
    addresses = True
    compares = False

    def __init__(self, database):
        self.database = database

    def q(self, name):
        return self.database.quoted(name)

    def create(self):
        raise NotImplementedError

    def account(self, number, address):
        return f"INSERT INTO {self.q(self.users)} ({self.q('id')}, {self.q('email')}) VALUES ('{number}', '{address}');\n"

    def identity(self, row, number, provider, user_id, address):
        raise NotImplementedError

    def accounts(self):
        return f"SELECT {self.q('id')}, {self.q('email')} FROM {self.q(self.users)}"

    def identities(self):
        """account, provider, id, copies of the id, copy of the address."""
        raise NotImplementedError


class BetterAuth(Schema):
    recipe = "better-auth"
    users = "user"

    def create(self):
        q = self.q
        return f"""
            CREATE TABLE {q('user')} ({q('id')} VARCHAR(36) NOT NULL PRIMARY KEY, {q('name')} VARCHAR(255),
                {q('email')} VARCHAR(255) NOT NULL UNIQUE, {q('emailVerified')} BOOLEAN);
            CREATE TABLE {q('account')} ({q('id')} VARCHAR(36) NOT NULL PRIMARY KEY,
                {q('accountId')} VARCHAR(255) NOT NULL, {q('providerId')} VARCHAR(255) NOT NULL,
                {q('userId')} VARCHAR(36) NOT NULL REFERENCES {q('user')} ({q('id')}) ON DELETE CASCADE);
            """

    def identity(self, row, number, provider, user_id, address):
        return f"INSERT INTO {self.q('account')} VALUES ('{row}', '{user_id}', '{provider}', '{number}');\n"

    def identities(self):
        q = self.q
        return f"SELECT {q('userId')}, {q('providerId')}, {q('accountId')} FROM {q('account')}"


class AuthJS(Schema):
    recipe = "authjs"

    def create(self):
        q = self.q
        return f"""
            CREATE TABLE {q('users')} ({q('id')} VARCHAR(36) NOT NULL PRIMARY KEY, {q('name')} VARCHAR(255),
                {q('email')} VARCHAR(255) UNIQUE);
            CREATE TABLE {q('accounts')} ({q('userId')} VARCHAR(36) NOT NULL, {q('type')} VARCHAR(255) NOT NULL,
                {q('provider')} VARCHAR(150) NOT NULL, {q('providerAccountId')} VARCHAR(150) NOT NULL,
                PRIMARY KEY ({q('provider')}, {q('providerAccountId')}));
            """

    def account(self, number, address):
        return f"INSERT INTO {self.q('users')} VALUES ('{number}', NULL, '{address}');\n"

    def identity(self, row, number, provider, user_id, address):
        return f"INSERT INTO {self.q('accounts')} VALUES ('{number}', 'oidc', '{provider}', '{user_id}');\n"

    def identities(self):
        q = self.q
        return f"SELECT {q('userId')}, {q('provider')}, {q('providerAccountId')} FROM {q('accounts')}"


class Prisma(AuthJS):
    """Auth.js with the names of its Prisma adapter."""

    options = ("--table", "Account", "--join", "Account.userId=User.id")
    users = "User"

    def create(self):
        text = super().create()
        q = self.q
        return text.replace(q("users"), q("User")).replace(q("accounts"), q("Account"))

    def account(self, number, address):
        return super().account(number, address).replace(self.q("users"), self.q("User"))

    def identity(self, *values):
        return super().identity(*values).replace(self.q("accounts"), self.q("Account"))

    def identities(self):
        return super().identities().replace(self.q("accounts"), self.q("Account"))


class Devise(Schema):
    """The users' own table has the id."""

    options = ("--table", "users", "--id-column", "uid", "--provider-column", "provider",
               "--email-column", "users.email")
    links = False

    def create(self):
        return """
            CREATE TABLE users (id VARCHAR(36) NOT NULL PRIMARY KEY, email VARCHAR(255) NOT NULL UNIQUE,
                provider VARCHAR(150), uid VARCHAR(150), UNIQUE (provider, uid));
            """

    def account(self, number, address):
        return f"INSERT INTO users (id, email) VALUES ('{number}', '{address}');\n"

    def identity(self, row, number, provider, user_id, address):
        return f"UPDATE users SET provider = '{provider}', uid = '{user_id}' WHERE id = '{number}';\n"

    def identities(self):
        return "SELECT id, provider, uid FROM users WHERE uid IS NOT NULL"


class Kratos(Schema):
    recipe = "kratos"
    users = "identities"
    addresses = False

    def create(self):
        kind = "uuid" if self.database.dialect == "postgresql" else "CHAR(36)"
        return f"""
            CREATE TABLE identities (id VARCHAR(36) NOT NULL PRIMARY KEY, email VARCHAR(255));
            CREATE TABLE identity_credential_types (id {kind} NOT NULL PRIMARY KEY, name VARCHAR(32) NOT NULL UNIQUE);
            CREATE TABLE identity_credentials (id {kind} NOT NULL PRIMARY KEY, config {self.database.json} NOT NULL,
                identity_credential_type_id {kind} NOT NULL, identity_id VARCHAR(36) NOT NULL, nid {kind});
            CREATE TABLE identity_credential_identifiers (id {kind} NOT NULL PRIMARY KEY,
                identifier VARCHAR(255) NOT NULL, identity_credential_id {kind} NOT NULL, nid {kind},
                identity_credential_type_id {kind} NOT NULL,
                UNIQUE (nid, identity_credential_type_id, identifier));
            INSERT INTO identity_credential_types VALUES ('{uuid(1, 1)}', 'password'), ('{uuid(1, 2)}', 'oidc');
            """

    def account(self, number, address):
        self.__dict__.setdefault("listed", {})[number] = []
        return super().account(number, address)

    def identity(self, row, number, provider, user_id, address):
        entries = self.listed[number]
        first = not entries
        entries.append(f'{{"subject": "{user_id}", "provider": "{provider}", "initial_id_token": ""}}')
        config = '{"providers": [' + ", ".join(entries) + "]}"
        credential = uuid(3, number)
        text = (
            f"INSERT INTO identity_credentials VALUES ('{credential}', '{config}', '{uuid(1, 2)}', '{number}', '{uuid(2, 1)}');\n"
            if first else f"UPDATE identity_credentials SET config = '{config}' WHERE id = '{credential}';\n")
        return text + (
            f"INSERT INTO identity_credential_identifiers VALUES ('{uuid(4, row)}', '{provider}:{user_id}', "
            f"'{credential}', '{uuid(2, 1)}', '{uuid(1, 2)}');\n")

    def identities(self):
        subject = {
            "sqlite": "(SELECT group_concat(json_extract(e.value, '$.subject'), '|') FROM json_each(c.config, '$.providers') e "
                      "WHERE json_extract(e.value, '$.provider') || ':' || json_extract(e.value, '$.subject') = i.identifier)",
            "postgresql": "(SELECT string_agg(e ->> 'subject', '|') FROM jsonb_array_elements(c.config -> 'providers') e "
                          "WHERE (e ->> 'provider') || ':' || (e ->> 'subject') = i.identifier)",
            "mysql": "(SELECT GROUP_CONCAT(e.s) FROM JSON_TABLE(c.config, '$.providers[*]' COLUMNS (s VARCHAR(255) PATH '$.subject', "
                     "p VARCHAR(255) PATH '$.provider')) e WHERE CONCAT(e.p, ':', e.s) = i.identifier)",
        }[self.database.dialect]
        name = {"mysql": "SUBSTRING_INDEX(i.identifier, ':', 1)",
                "postgresql": "split_part(i.identifier, ':', 1)",
                "sqlite": "substr(i.identifier, 1, instr(i.identifier, ':') - 1)"}[self.database.dialect]
        user_id = {"mysql": "SUBSTRING_INDEX(i.identifier, ':', -1)",
                   "postgresql": "split_part(i.identifier, ':', 2)",
                   "sqlite": "substr(i.identifier, instr(i.identifier, ':') + 1)"}[self.database.dialect]
        return (f"SELECT c.identity_id, {name}, {user_id}, {subject} FROM identity_credential_identifiers i "
                "JOIN identity_credentials c ON c.id = i.identity_credential_id")

    copies = 1


def uuid(kind, number):
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


class Supabase(Schema):
    recipe = "supabase"
    dialects = ("postgresql",)
    users = "auth.users"
    compares = True
    copies = 2

    def create(self):
        return """
            CREATE SCHEMA auth;
            CREATE TABLE auth.users (id text NOT NULL PRIMARY KEY, email varchar(255),
                raw_user_meta_data jsonb, is_sso_user boolean NOT NULL DEFAULT false);
            CREATE UNIQUE INDEX users_email_partial_key ON auth.users (email) WHERE is_sso_user = false;
            CREATE TABLE auth.identities (provider_id text NOT NULL,
                user_id text NOT NULL REFERENCES auth.users ON DELETE CASCADE,
                identity_data jsonb NOT NULL, provider text NOT NULL,
                email text GENERATED ALWAYS AS (lower(identity_data ->> 'email')) STORED,
                id uuid NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
                CONSTRAINT identities_provider_id_provider_unique UNIQUE (provider_id, provider));
            ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY;
            ALTER TABLE auth.identities ENABLE ROW LEVEL SECURITY;
            """

    def identity(self, row, number, provider, user_id, address):
        data = f'{{"sub": "{user_id}", "iss": "x", "email": "{address}", "provider_id": "{user_id}"}}'
        return (
            "INSERT INTO auth.identities (provider_id, user_id, identity_data, provider) "
            f"VALUES ('{user_id}', '{number}', '{data}', '{provider}');\n"
            f"UPDATE auth.users SET raw_user_meta_data = '{data}' WHERE id = '{number}' AND raw_user_meta_data IS NULL;\n")

    def identities(self):
        return ("SELECT user_id, provider, provider_id, identity_data ->> 'sub', "
                "identity_data ->> 'provider_id', email FROM auth.identities")


class PocketBase(Schema):
    recipe = "pocketbase"
    dialects = ("sqlite",)
    links = False

    def create(self):
        return """
            CREATE TABLE `_collections` (`id` TEXT PRIMARY KEY NOT NULL, `type` TEXT, `name` TEXT UNIQUE NOT NULL);
            INSERT INTO _collections VALUES ('_pb_users_auth_', 'auth', 'users'), ('pbc_2', 'auth', 'others');
            CREATE TABLE `users` (`id` TEXT PRIMARY KEY NOT NULL, `email` TEXT DEFAULT '' NOT NULL);
            CREATE UNIQUE INDEX idx_email ON users (email) WHERE email != '';
            CREATE TABLE `_externalAuths` (`id` TEXT PRIMARY KEY NOT NULL, `collectionRef` TEXT DEFAULT '' NOT NULL,
                `provider` TEXT DEFAULT '' NOT NULL, `providerId` TEXT DEFAULT '' NOT NULL,
                `recordRef` TEXT DEFAULT '' NOT NULL);
            CREATE UNIQUE INDEX `idx_externalAuths_record_provider` ON `_externalAuths` (collectionRef, recordRef, provider);
            CREATE UNIQUE INDEX `idx_externalAuths_collection_provider` ON `_externalAuths` (collectionRef, provider, providerId);
            INSERT INTO _externalAuths VALUES ('other', 'pbc_2', 'apple', '000001.0123456789abcdef.0830', 'someone');
            """

    def identity(self, row, number, provider, user_id, address):
        return f"INSERT INTO _externalAuths VALUES ('{row}', '_pb_users_auth_', '{provider}', '{user_id}', '{number}');\n"

    def identities(self):
        return "SELECT recordRef, provider, providerId FROM _externalAuths"


class Django(Schema):
    """Tables that the application's own migrations make."""

    users = "auth_user"
    app = ""

    def create(self):
        import djangosite
        djangosite.migrate(self.database, self.app)
        return ""

    def account(self, number, address):
        true, false = ("true", "false") if self.database.dialect == "postgresql" else ("1", "0")
        return (
            "INSERT INTO auth_user (id, password, is_superuser, username, first_name, last_name, email, is_staff, "
            f"is_active, date_joined) VALUES ({number}, '', {false}, 'user{number}', '', '', '{address}', {false}, {true}, "
            "'2026-01-01 00:00:00');\n")


class Allauth(Django):
    recipe = "django-allauth"
    app = "allauth"
    compares = True
    copies = 1

    def account(self, number, address):
        true = "true" if self.database.dialect == "postgresql" else "1"
        return super().account(number, address) + (
            f"INSERT INTO account_emailaddress (email, verified, {self.q('primary')}, user_id) "
            f"VALUES ('{address}', {true}, {true}, {number});\n")

    def identity(self, row, number, provider, user_id, address):
        data = f'{{"iss": "https://appleid.apple.com", "sub": "{user_id}", "email": "{address}"}}'
        return (
            "INSERT INTO socialaccount_socialaccount (provider, uid, last_login, date_joined, user_id, extra_data) VALUES "
            f"('{provider}', '{user_id}', '2026-01-01 00:00:00', '2026-01-01 00:00:00', {number}, '{data}');\n")

    def accounts(self):
        return ("SELECT u.id, u.email FROM auth_user u JOIN account_emailaddress e ON e.user_id = u.id AND e.email = u.email")

    def identities(self):
        member = self.database.member
        return (f"SELECT user_id, provider, uid, {member('extra_data', 'sub')}, {member('extra_data', 'email')} "
                "FROM socialaccount_socialaccount")


class SocialAuth(Django):
    recipe = "python-social-auth"
    app = "social_django"
    provider = "apple-id"

    def identity(self, row, number, provider, user_id, address):
        return (
            "INSERT INTO social_auth_usersocialauth (provider, uid, id_key, extra_data, user_id, created, modified) VALUES "
            f"('{provider}', '{user_id}', 'sub', '{{}}', {number}, '2026-01-01 00:00:00', '2026-01-01 00:00:00');\n")

    def identities(self):
        return "SELECT user_id, provider, uid FROM social_auth_usersocialauth"


ALL = [BetterAuth, AuthJS, Prisma, Devise, Kratos, Supabase, PocketBase, Allauth, SocialAuth]
