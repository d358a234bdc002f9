-- Deeds that get one entry together: SQLite's migration 0021.

ALTER TABLE provider ADD COLUMN alone_count bigint NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN audit_day bigint NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN change_day_count bigint NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN alone_day_count bigint NOT NULL DEFAULT 0;

CREATE TABLE audit_fold (
  provider text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  from_ms bigint NOT NULL,
  deed_count bigint NOT NULL,
  fold text COLLATE "C" NOT NULL,
  PRIMARY KEY (provider, action)
);
