-- Figures that are shown: SQLite's migration 0041.

ALTER TABLE provider_key DROP CONSTRAINT provider_key_scope;
ALTER TABLE provider_key ADD CONSTRAINT provider_key_scope
  CHECK (scope IN ('read', 'links', 'send', 'ties', 'cuts', 'figures'));

ALTER TABLE provider ADD COLUMN my_traffic integer NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN figures_since_ms bigint;
UPDATE provider SET figures_since_ms = 0 WHERE subscription_figures = 1;
