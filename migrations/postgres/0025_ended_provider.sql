-- Only hosts of the provider where a token had its last place know that it ended: SQLite's
-- migration 0033.

ALTER TABLE ended_token ADD COLUMN provider_id bigint;
