-- The program that migrated the database last, and where the data moved: SQLite's migration 0024,
-- whose table `appliance` has no counterpart here.

ALTER TABLE gatepost_schema ADD COLUMN program text COLLATE "C";
ALTER TABLE gatepost_schema ADD COLUMN moved_to text COLLATE "C";
