-- A vault of schema 2 made by siwa 0.1.0: init, import, rekey to key 2, one more import; the rows of
-- 001.revoked and of com.example.web are those from before the rekey, as after an interrupted one.
-- Dumped by pg_dump. The keys are in MigrationTests.swift.
CREATE TABLE public.vault_key (
    number bigint NOT NULL,
    check_value bytea NOT NULL
);
CREATE TABLE public.vault_schema (
    version bigint NOT NULL
);
CREATE TABLE public.vault_token (
    client_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    key_number bigint NOT NULL,
    version bigint NOT NULL,
    sealed bytea NOT NULL,
    stored_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    checked_at bigint,
    lease_owner text COLLATE pg_catalog."C",
    lease_until bigint DEFAULT 0 NOT NULL,
    given_back_at bigint,
    CONSTRAINT vault_token_state_check CHECK ((state = ANY (ARRAY['active'::text, 'revoking'::text, 'revoked'::text, 'dead'::text, 'consent_revoked'::text, 'account_deleted'::text])))
);
INSERT INTO public.vault_key VALUES (1, '\x8783230024c9ca5c8c36c3fbfbb0d043bf4750a20571268d80ac43f6');
INSERT INTO public.vault_key VALUES (2, '\xb4f8aef26478600c039fc8b95d63a9a75a35d26fed52d53de5474ad1');
INSERT INTO public.vault_schema VALUES (2);
INSERT INTO public.vault_token VALUES ('com.example.app', '001.active', 'active', 2, 2, '\x9265028dea15ad7f1f241777da8716436779a92c3722e56e1dffe9bae60ae302bfb0300606cd4b42e0c2b9d4', 1700000000, 1700000000, NULL, NULL, 1795315942, NULL);
INSERT INTO public.vault_token VALUES ('com.example.app', '001.resealed', 'revoking', 2, 3, '\x11a41b4296258757fc86a08a6e6b718a35362b0a11681ae69ec4867753e4ce09a505501a22044edbe21f7ef604b3', 1700000300, 1700000300, NULL, NULL, 1795315942, NULL);
INSERT INTO public.vault_token VALUES ('com.example.app', '001.é ''', 'account_deleted', 2, 1, '\x26156e1bfd11cc6d4013f26c09fce79c3f12f03d825b3087ac12d298b81b02fcd4e284cbdca7e9b059', 1700000400, 1700000400, NULL, NULL, 0, NULL);
INSERT INTO public.vault_token VALUES ('com.example.app', '001.revoked', 'revoked', 1, 1, '\x725fa36b9fade2cb656a24b22d79db598c98dcba55dfe0f59ee8c718bc3b332d6419a3cfd20aebc50195341564', 1700000000, 1700000100, NULL, NULL, 0, NULL);
INSERT INTO public.vault_token VALUES ('com.example.web', '001.active', 'dead', 1, 1, '\x160e1bbece66f9e4fc8ee0ed60e788d92b2c01020b6e8cdfdba67040a16beb20bcd25239c47931a8ec', 1700000000, 1700000200, 1700000200, NULL, 1700000200, NULL);
ALTER TABLE ONLY public.vault_key
    ADD CONSTRAINT vault_key_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.vault_token
    ADD CONSTRAINT vault_token_pkey PRIMARY KEY (client_id, user_id);
CREATE INDEX vault_token_state ON public.vault_token USING btree (state, client_id, user_id);
CREATE INDEX vault_token_turn ON public.vault_token USING btree (client_id, state, lease_until, user_id);
ALTER TABLE ONLY public.vault_token
    ADD CONSTRAINT vault_token_key_number_fkey FOREIGN KEY (key_number) REFERENCES public.vault_key(number);
