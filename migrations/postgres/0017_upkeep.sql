-- How each task of upkeep went last: SQLite's migration 0025.

CREATE TABLE upkeep (
  task text COLLATE "C" PRIMARY KEY,
  schedule text COLLATE "C" NOT NULL,
  scheduled_at_ms bigint NOT NULL,
  succeeded_at_ms bigint,
  result text COLLATE "C",
  bytes bigint,
  took_ms bigint,
  failed_at_ms bigint,
  reason text COLLATE "C",
  code text COLLATE "C",
  is_failing integer NOT NULL,
  failing_since_ms bigint,
  failure_count integer NOT NULL,
  CONSTRAINT upkeep_is_failing CHECK (is_failing IN (0, 1))
);
