"""The schemas of applications, and how a user is stored.

Those that are written here have the columns and indexes that concern a user, by the sources that each
names (docs/migration.md); Django's are made by their own migrations.

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
    """Better Auth 1.7: packages/core/src/db/get-tables.ts, packages/better-auth/src/db/get-migration.ts."""

    recipe = "better-auth"
    users = "user"
    issuers = {"apple": "https://appleid.apple.com", "google": "https://accounts.google.com"}

    def create(self):
        q = self.q
        return f"""
            CREATE TABLE {q('user')} ({q('id')} VARCHAR(36) NOT NULL PRIMARY KEY, {q('name')} VARCHAR(255) NOT NULL,
                {q('email')} VARCHAR(255) NOT NULL UNIQUE, {q('emailVerified')} BOOLEAN NOT NULL, {q('image')} TEXT);
            CREATE TABLE {q('account')} ({q('id')} VARCHAR(36) NOT NULL PRIMARY KEY,
                {q('issuer')} VARCHAR(255) NOT NULL, {q('accountId')} VARCHAR(255) NOT NULL,
                {q('providerId')} VARCHAR(255) NOT NULL,
                {q('userId')} VARCHAR(36) NOT NULL REFERENCES {q('user')} ({q('id')}) ON DELETE CASCADE);
            CREATE UNIQUE INDEX account_issuer ON {q('account')} ({q('issuer')}, {q('accountId')});
            CREATE INDEX account_user ON {q('account')} ({q('userId')});
            """

    def account(self, number, address):
        false = "false" if self.database.dialect == "postgresql" else "0"
        return f"INSERT INTO {self.q('user')} VALUES ('{number}', 'Somebody', '{address}', {false}, NULL);\n"

    def identity(self, row, number, provider, user_id, address):
        return (f"INSERT INTO {self.q('account')} VALUES ('{row}', '{self.issuers[provider]}', '{user_id}', "
                f"'{provider}', '{number}');\n")

    def identities(self):
        q = self.q
        return f"SELECT {q('userId')}, {q('providerId')}, {q('accountId')} FROM {q('account')}"


class BetterAuth16(BetterAuth):
    """Better Auth before 1.7, without an issuer and its index; its ids are UUIDs if they are so configured."""

    def create(self):
        q = self.q
        kind = "uuid" if self.database.dialect == "postgresql" else "VARCHAR(36)"
        return f"""
            CREATE TABLE {q('user')} ({q('id')} {kind} NOT NULL PRIMARY KEY, {q('name')} VARCHAR(255) NOT NULL,
                {q('email')} VARCHAR(255) NOT NULL UNIQUE, {q('emailVerified')} BOOLEAN NOT NULL, {q('image')} TEXT);
            CREATE TABLE {q('account')} ({q('id')} {kind} NOT NULL PRIMARY KEY, {q('accountId')} TEXT NOT NULL,
                {q('providerId')} TEXT NOT NULL,
                {q('userId')} {kind} NOT NULL REFERENCES {q('user')} ({q('id')}) ON DELETE CASCADE);
            """

    def account(self, number, address):
        return super().account(uuid(9, number), address)

    def identity(self, row, number, provider, user_id, address):
        return (f"INSERT INTO {self.q('account')} VALUES ('{uuid(8, row)}', '{user_id}', '{provider}', "
                f"'{uuid(9, number)}');\n")

    def accounts(self):
        return f"SELECT {self.database.uuid_number(self.q('id'))}, {self.q('email')} FROM {self.q('user')}"

    def identities(self):
        q = self.q
        return f"SELECT {self.database.uuid_number(q('userId'))}, {q('providerId')}, {q('accountId')} FROM {q('account')}"


class AuthJS(Schema):
    """Auth.js with the names of its TypeORM adapter, and the primary key that its other adapters have."""

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


class AuthJSRows(AuthJS):
    """Auth.js as its adapters for PostgreSQL (packages/adapter-pg/schema.sql) and D1 have it: no index
    keeps an id, or an address, from being stored twice."""

    dialects = ("sqlite", "postgresql")

    def create(self):
        q = self.q
        own, other = ("SERIAL", "INTEGER") if self.database.dialect == "postgresql" else ("TEXT", "TEXT")
        return f"""
            CREATE TABLE users (id {own} PRIMARY KEY, name VARCHAR(255), email VARCHAR(255));
            CREATE TABLE accounts (id {own} PRIMARY KEY, {q('userId')} {other} NOT NULL, type VARCHAR(255) NOT NULL,
                provider VARCHAR(255) NOT NULL, {q('providerAccountId')} VARCHAR(255) NOT NULL);
            """

    def identity(self, row, number, provider, user_id, address):
        return f"INSERT INTO accounts VALUES ('{row}', '{number}', 'oidc', '{provider}', '{user_id}');\n"


class Renamed(AuthJS):
    """Auth.js with other names of its tables."""

    names = {}

    def renamed(self, text):
        for old, new in self.names.items():
            text = text.replace(self.q(old), self.q(new))
        return text

    def create(self):
        return self.renamed(super().create())

    def account(self, number, address):
        return self.renamed(super().account(number, address))

    def identity(self, *values):
        return self.renamed(super().identity(*values))

    def identities(self):
        return self.renamed(super().identities())


class Prisma(Renamed):
    """Auth.js with its Prisma adapter: packages/adapter-prisma/prisma/schema.prisma."""

    options = ("--table", "Account", "--join", "Account.userId=User.id")
    users = "User"
    names = {"users": "User", "accounts": "Account"}


class Drizzle(Renamed):
    """Auth.js with its Drizzle adapter: packages/adapter-drizzle/src/lib."""

    options = ("--table", "account", "--join", "account.userId=user.id")
    users = "user"
    names = {"users": "user", "accounts": "account"}


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
    """Ory Kratos 26.2: persistence/sql/migrations/sql, identity/credentials_oidc.go."""

    recipe = "kratos"
    users = "identities"
    addresses = False

    def create(self):
        kind = "uuid" if self.database.dialect == "postgresql" else "CHAR(36)"
        # Identifiers differ by case on MySQL, too.
        binary = " BINARY" if self.database.dialect == "mysql" else ""
        return f"""
            CREATE TABLE networks (id {kind} NOT NULL PRIMARY KEY);
            CREATE TABLE identities (id {kind} NOT NULL PRIMARY KEY, traits {self.database.json} NOT NULL, nid {kind});
            CREATE TABLE identity_credential_types (id {kind} NOT NULL PRIMARY KEY, name VARCHAR(32) NOT NULL);
            CREATE UNIQUE INDEX identity_credential_types_name_idx ON identity_credential_types (name);
            CREATE TABLE identity_credentials (id {kind} NOT NULL PRIMARY KEY, config {self.database.json} NOT NULL,
                identity_credential_type_id {kind} NOT NULL REFERENCES identity_credential_types (id) ON DELETE CASCADE,
                identity_id {kind} NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
                nid {kind} REFERENCES networks (id) ON DELETE CASCADE, version INT NOT NULL DEFAULT 0);
            CREATE TABLE identity_credential_identifiers (id {kind} NOT NULL PRIMARY KEY,
                identifier VARCHAR(255){binary} NOT NULL,
                identity_credential_id {kind} NOT NULL REFERENCES identity_credentials (id) ON DELETE CASCADE,
                nid {kind} REFERENCES networks (id) ON DELETE CASCADE,
                identity_credential_type_id {kind} NOT NULL REFERENCES identity_credential_types (id) ON DELETE CASCADE,
                identity_id {kind} NOT NULL REFERENCES identities (id) ON DELETE CASCADE);
            CREATE UNIQUE INDEX identity_credential_identifiers_identifier_nid_type_uq_idx
                ON identity_credential_identifiers (nid, identity_credential_type_id, identifier);
            INSERT INTO networks VALUES ('{uuid(2, 1)}');
            INSERT INTO identity_credential_types VALUES ('{uuid(1, 1)}', 'password'), ('{uuid(1, 2)}', 'oidc');
            """

    def account(self, number, address):
        self.__dict__.setdefault("listed", {})[number] = []
        traits = f'{{"email": "{address}"}}'
        return f"INSERT INTO identities VALUES ('{uuid(9, number)}', '{traits}', '{uuid(2, 1)}');\n"

    def identity(self, row, number, provider, user_id, address):
        entries = self.listed[number]
        first = not entries
        entries.append(
            f'{{"subject": "{user_id}", "provider": "{provider}", "initial_id_token": "", '
            '"initial_access_token": "", "initial_refresh_token": ""}')
        config = '{"providers": [' + ", ".join(entries) + "]}"
        credential = uuid(3, number)
        text = (
            "INSERT INTO identity_credentials (id, config, identity_credential_type_id, identity_id, nid) VALUES "
            f"('{credential}', '{config}', '{uuid(1, 2)}', '{uuid(9, number)}', '{uuid(2, 1)}');\n"
            if first else f"UPDATE identity_credentials SET config = '{config}' WHERE id = '{credential}';\n")
        return text + (
            f"INSERT INTO identity_credential_identifiers VALUES ('{uuid(4, row)}', '{provider}:{user_id}', "
            f"'{credential}', '{uuid(2, 1)}', '{uuid(1, 2)}', '{uuid(9, number)}');\n")

    def accounts(self):
        return f"SELECT {self.database.uuid_number('id')}, {self.database.member('traits', 'email')} FROM identities"

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
        return (f"SELECT {self.database.uuid_number('c.identity_id')}, {name}, {user_id}, {subject} FROM identity_credential_identifiers i "
                "JOIN identity_credentials c ON c.id = i.identity_credential_id")

    copies = 1


def uuid(kind, number):
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


class Supabase(Schema):
    """Supabase Auth 2.196: migrations, internal/models/identity.go."""

    recipe = "supabase"
    dialects = ("postgresql",)
    users = "auth.users"
    compares = True
    copies = 2

    def create(self):
        return """
            CREATE SCHEMA auth;
            CREATE TABLE auth.users (instance_id uuid, id uuid NOT NULL PRIMARY KEY, aud varchar(255),
                role varchar(255), email varchar(255), email_confirmed_at timestamptz, phone text UNIQUE,
                phone_confirmed_at timestamptz, raw_app_meta_data jsonb, raw_user_meta_data jsonb,
                confirmed_at timestamptz GENERATED ALWAYS AS (LEAST(email_confirmed_at, phone_confirmed_at)) STORED,
                is_sso_user boolean NOT NULL DEFAULT false);
            CREATE UNIQUE INDEX users_email_partial_key ON auth.users (email) WHERE is_sso_user = false;
            CREATE INDEX users_instance_id_email_idx ON auth.users (instance_id, lower(email));
            CREATE TABLE auth.identities (provider_id text NOT NULL,
                user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
                identity_data jsonb NOT NULL, provider text NOT NULL, last_sign_in_at timestamptz,
                created_at timestamptz, updated_at timestamptz,
                email text GENERATED ALWAYS AS (lower(identity_data ->> 'email')) STORED,
                id uuid NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
                CONSTRAINT identities_provider_id_provider_unique UNIQUE (provider_id, provider));
            CREATE INDEX identities_user_id_idx ON auth.identities (user_id);
            CREATE INDEX identities_email_idx ON auth.identities (email text_pattern_ops);
            ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY;
            ALTER TABLE auth.identities ENABLE ROW LEVEL SECURITY;
            """

    def account(self, number, address):
        return f"INSERT INTO auth.users (id, email) VALUES ('{uuid(9, number)}', '{address}');\n"

    def identity(self, row, number, provider, user_id, address):
        data = f'{{"sub": "{user_id}", "iss": "x", "email": "{address}", "provider_id": "{user_id}"}}'
        return (
            "INSERT INTO auth.identities (provider_id, user_id, identity_data, provider) "
            f"VALUES ('{user_id}', '{uuid(9, number)}', '{data}', '{provider}');\n"
            f"UPDATE auth.users SET raw_user_meta_data = '{data}' WHERE id = '{uuid(9, number)}' "
            "AND raw_user_meta_data IS NULL;\n")

    def accounts(self):
        return f"SELECT {self.database.uuid_number('id')}, email FROM auth.users"

    def identities(self):
        return (f"SELECT {self.database.uuid_number('user_id')}, provider, provider_id, identity_data ->> 'sub', "
                "identity_data ->> 'provider_id', email FROM auth.identities")


class PocketBase(Schema):
    """PocketBase 0.39: migrations/1640988000_init.go, and the tables that it makes of its fields."""

    recipe = "pocketbase"
    dialects = ("sqlite",)
    links = False

    def create(self):
        return """
            CREATE TABLE `_collections` (`id` TEXT PRIMARY KEY NOT NULL, `system` BOOLEAN DEFAULT FALSE NOT NULL,
                `type` TEXT DEFAULT 'base' NOT NULL, `name` TEXT UNIQUE NOT NULL);
            INSERT INTO _collections VALUES ('_pb_users_auth_', FALSE, 'auth', 'users'), ('pbc_2', FALSE, 'auth', 'others');
            CREATE TABLE `users` (`id` TEXT PRIMARY KEY NOT NULL, `email` TEXT DEFAULT '' NOT NULL,
                `emailVisibility` BOOLEAN DEFAULT FALSE NOT NULL, `password` TEXT DEFAULT '' NOT NULL,
                `tokenKey` TEXT DEFAULT (hex(randomblob(15))) NOT NULL, `verified` BOOLEAN DEFAULT FALSE NOT NULL,
                `updated` TEXT DEFAULT '' NOT NULL);
            CREATE UNIQUE INDEX `idx_email__pb_users_auth_` ON `users` (`email`) WHERE `email` != '';
            CREATE UNIQUE INDEX `idx_tokenKey__pb_users_auth_` ON `users` (`tokenKey`);
            CREATE TABLE `_externalAuths` (`collectionRef` TEXT DEFAULT '' NOT NULL, `created` TEXT DEFAULT '' NOT NULL,
                `id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL,
                `provider` TEXT DEFAULT '' NOT NULL, `providerId` TEXT DEFAULT '' NOT NULL,
                `recordRef` TEXT DEFAULT '' NOT NULL, `updated` TEXT DEFAULT '' NOT NULL);
            CREATE UNIQUE INDEX `idx_externalAuths_record_provider` ON `_externalAuths` (collectionRef, recordRef, provider);
            CREATE UNIQUE INDEX `idx_externalAuths_collection_provider` ON `_externalAuths` (collectionRef, provider, providerId);
            INSERT INTO _externalAuths (id, collectionRef, provider, providerId, recordRef)
                VALUES ('other', 'pbc_2', 'apple', '000001.0123456789abcdef.0830', 'someone');
            """

    def identity(self, row, number, provider, user_id, address):
        return ("INSERT INTO _externalAuths (id, collectionRef, provider, providerId, recordRef) VALUES "
                f"('{row}', '_pb_users_auth_', '{provider}', '{user_id}', '{number}');\n")

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


ALL = [BetterAuth, BetterAuth16, AuthJS, AuthJSRows, Prisma, Drizzle, Devise, Kratos, Supabase, PocketBase, Allauth, SocialAuth]
