-- Tokens that ended with their last slot, and ends of which a token was not notified: SQLite's
-- migration 0030.

CREATE TABLE ended_token (
  token_hash bytea PRIMARY KEY,
  why text COLLATE "C" NOT NULL,
  ended_at_ms bigint NOT NULL,
  CONSTRAINT ended_token_why CHECK (why IN ('slot_freed', 'link_ended', 'link_replaced'))
);

CREATE INDEX ended_token_by_time ON ended_token (ended_at_ms, token_hash);

ALTER TABLE device_token ADD COLUMN ended text COLLATE "C";

CREATE INDEX device_token_to_tell ON device_token (id) WHERE ended IS NOT NULL;

ALTER TABLE device_provider ADD COLUMN claim_ended_at_ms bigint;
