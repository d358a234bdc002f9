-- Figures of subscriptions: SQLite's migration 0037.

ALTER TABLE provider ADD COLUMN subscription_figures integer NOT NULL DEFAULT 0;

CREATE TABLE subscription_figures (
  install_id bigint PRIMARY KEY REFERENCES install (id) ON DELETE CASCADE,
  provider_id bigint NOT NULL,
  ends_at_ms bigint,
  total_bytes bigint,
  used_bytes bigint,
  read_at_ms bigint NOT NULL,
  source text COLLATE "C" NOT NULL,
  since_ms bigint NOT NULL,
  period_ends_at_ms bigint,
  period_total_bytes bigint,
  CONSTRAINT subscription_figures_source CHECK (source IN ('proxy', 'panel'))
);

CREATE INDEX subscription_figures_by_end ON subscription_figures (provider_id, ends_at_ms, install_id);
CREATE INDEX subscription_figures_by_time ON subscription_figures (read_at_ms, install_id);
