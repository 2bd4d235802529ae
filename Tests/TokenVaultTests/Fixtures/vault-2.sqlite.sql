-- A vault of schema 2 made by siwa 0.1.0: init, import, rekey to key 2, one more import; the rows of
-- 001.revoked and of com.example.web are those from before the rekey, as after an interrupted one.
-- Dumped by sqlite3. The keys are in MigrationTests.swift.
CREATE TABLE vault_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO vault_schema VALUES(2);
CREATE TABLE vault_key (
    number INTEGER NOT NULL PRIMARY KEY,
    check_value BLOB NOT NULL
) STRICT;
INSERT INTO vault_key VALUES(1,X'460dd5382e1a928ead10e2cb0d3c160a91310e686278054eeb8d4c10');
INSERT INTO vault_key VALUES(2,X'355b85642b525cbe091e08fd86d68428008bf23e6f2b892d9f280543');
CREATE TABLE vault_token (
    client_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'revoking', 'revoked', 'dead', 'consent_revoked', 'account_deleted')),
    key_number INTEGER NOT NULL REFERENCES vault_key (number),
    version INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    stored_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    checked_at INTEGER,
    lease_owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0, given_back_at INTEGER,
    PRIMARY KEY (client_id, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO vault_token VALUES('com.example.app','001.active','active',2,2,X'b63a7576f9726c3ea818ada5ff46c1c0b0e041b8ae652695c7f3c33aa1272b2c98c057107fa839c3b09b6595',1700000000,1700000000,NULL,NULL,1795315943,NULL);
INSERT INTO vault_token VALUES('com.example.app','001.resealed','revoking',2,3,X'791d960e307399a88de7de514b396488c09ad7795f276af4f7dab3ed9f4eca93dacde651c6d75db123a5bbdb8621',1700000300,1700000300,NULL,NULL,1795315943,NULL);
INSERT INTO vault_token VALUES('com.example.app','001.revoked','revoked',1,1,X'fb5693b3e5b39158530f697def7cff10a242c386ab5cf8ed7df7e223ec10eb479620672bfd57552cf6ae919afc',1700000000,1700000100,NULL,NULL,0,NULL);
INSERT INTO vault_token VALUES('com.example.app','001.é ''','account_deleted',2,1,X'8ef1bd63a22c9616652fea67a151f8ce135410f1e16bc979e9a775b5ac05c47bad0621bca3c6dec700',1700000400,1700000400,NULL,NULL,0,NULL);
INSERT INTO vault_token VALUES('com.example.web','001.active','dead',1,1,X'82f29d7359dc19ba9337b164a3f16e893567f8b83d1e6e5785b5aaf05357cf85fb0fb6e995271dfed8',1700000000,1700000200,1700000200,NULL,1700000200,NULL);
CREATE INDEX vault_token_state ON vault_token (state, client_id, user_id);
CREATE INDEX vault_token_turn
ON vault_token (client_id, state, lease_until, user_id);
