-- Messages to what a search finds when they are delivered: SQLite's migration 0043.

ALTER TABLE distribution ADD COLUMN segment text COLLATE "C";
ALTER TABLE distribution ADD COLUMN cursor_os text COLLATE "C";
ALTER TABLE distribution ADD COLUMN ride_ended_at_ms bigint;
