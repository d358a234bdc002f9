-- Whether apps that ask find the server of messages by their subscription: SQLite's migration 0031.

ALTER TABLE provider ADD COLUMN discovery integer NOT NULL DEFAULT 0;
