-- The time by the steady clock of each machine that serves: SQLite's migration 0022.

CREATE TABLE steady_time (
  name text COLLATE "C" PRIMARY KEY,
  at_ms bigint NOT NULL,
  ran_ms bigint NOT NULL,
  leap text COLLATE "C",
  spent text COLLATE "C" NOT NULL
);
