-- What add-install answers the bot of a provider, and takes from it: SQLite's migration 0028.

ALTER TABLE provider ADD COLUMN rc2_body text COLLATE "C";
ALTER TABLE provider ADD COLUMN short_codes integer NOT NULL DEFAULT 0;
