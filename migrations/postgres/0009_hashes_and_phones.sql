-- Slots held by hashes of HWIDs, and phones that come back: SQLite's migration 0017.

ALTER TABLE install ADD COLUMN same_phone text COLLATE "C";
ALTER TABLE install ADD COLUMN has_hashes integer NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN same_phone text COLLATE "C";
