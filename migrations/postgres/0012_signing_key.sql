-- A key that signs without rows: SQLite's migration 0020. A random UUID has 122 random bits.

CREATE TABLE signing_key (
  id bigint PRIMARY KEY,
  key bytea NOT NULL,
  CONSTRAINT signing_key_once CHECK (id = 1),
  CONSTRAINT signing_key_length CHECK (length(key) = 32)
);

INSERT INTO signing_key (id, key)
  VALUES (1, sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
