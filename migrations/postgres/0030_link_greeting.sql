-- Greetings of links: SQLite's migration 0038.

ALTER TABLE install ADD COLUMN greeting text COLLATE "C";
