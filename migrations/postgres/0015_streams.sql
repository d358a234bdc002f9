-- Whether the app of a token opened a stream: SQLite's migration 0023.

ALTER TABLE device_token ADD COLUMN has_stream integer NOT NULL DEFAULT 0;
