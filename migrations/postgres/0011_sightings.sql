-- Things seen at panels, for the doctor: SQLite's migration 0019.

CREATE TABLE sighting (
  host text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  seen_count bigint NOT NULL,
  first_seen_at_ms bigint NOT NULL,
  last_seen_at_ms bigint NOT NULL,
  PRIMARY KEY (host, kind, subject)
);

CREATE INDEX sighting_by_time ON sighting (last_seen_at_ms, host, kind, subject);
