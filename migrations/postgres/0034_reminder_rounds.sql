-- Rounds of reminders, and the ledger of what they sent: SQLite's migration 0042.

CREATE TABLE reminder_sent (
  reminder_id bigint NOT NULL,
  device_id bigint NOT NULL REFERENCES device (id) ON DELETE CASCADE,
  period bigint NOT NULL,
  install_id bigint NOT NULL REFERENCES install (id) ON DELETE CASCADE,
  provider_id bigint NOT NULL,
  distribution_id bigint,
  sent_at_ms bigint NOT NULL,
  ended_at_ms bigint,
  PRIMARY KEY (reminder_id, device_id, period)
);

CREATE INDEX reminder_sent_by_device ON reminder_sent (device_id, sent_at_ms, reminder_id, period);
CREATE INDEX reminder_sent_by_install ON reminder_sent (install_id, reminder_id, device_id, period);
CREATE INDEX reminder_sent_by_time ON reminder_sent (sent_at_ms, reminder_id, device_id, period);
CREATE INDEX reminder_sent_open ON reminder_sent (provider_id, install_id, reminder_id, device_id, period)
WHERE ended_at_ms IS NULL;

CREATE TABLE reminding (
  provider_id bigint PRIMARY KEY REFERENCES provider (id) ON DELETE CASCADE,
  lease_owner text COLLATE "C",
  lease_until_ms bigint NOT NULL DEFAULT 0,
  stopped_at_ms bigint,
  stopped_moved bigint,
  stopped_links bigint,
  resumed_at_ms bigint NOT NULL DEFAULT 0
);

ALTER TABLE distribution ADD COLUMN reminder_id bigint;
ALTER TABLE distribution ADD COLUMN reminder_day bigint;
CREATE UNIQUE INDEX distribution_round ON distribution (reminder_id, reminder_day)
WHERE reminder_id IS NOT NULL;
CREATE INDEX distribution_rounds ON distribution (provider_id, id) WHERE reminder_id IS NOT NULL;

ALTER TABLE subscription_figures ADD COLUMN period_at_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE subscription_figures ADD COLUMN traffic_at_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE subscription_figures ADD COLUMN moved_at_ms bigint;
ALTER TABLE subscription_figures ADD COLUMN renewal_told_at_ms bigint;
ALTER TABLE subscription_figures ADD COLUMN told_hours bigint;
ALTER TABLE subscription_figures ADD COLUMN told_percent bigint;
CREATE INDEX subscription_figures_by_provider ON subscription_figures (provider_id, install_id);
CREATE INDEX subscription_figures_moved ON subscription_figures (provider_id, moved_at_ms, install_id)
WHERE moved_at_ms IS NOT NULL;

-- What reminders sent counts in no bound of what a provider sends and keeps.

DROP TRIGGER distribution_added ON distribution;
DROP TRIGGER distribution_loaded ON distribution;
DROP TRIGGER distribution_pruned ON distribution;
DROP TRIGGER distribution_removed ON distribution;

CREATE TRIGGER distribution_added AFTER INSERT ON distribution
FOR EACH ROW WHEN (NEW.reminder_id IS NULL) EXECUTE FUNCTION distribution_added();

CREATE TRIGGER distribution_loaded AFTER UPDATE OF recipient_count ON distribution
FOR EACH ROW WHEN (NEW.recipient_count <> OLD.recipient_count AND NEW.reminder_id IS NULL)
EXECUTE FUNCTION distribution_loaded();

CREATE TRIGGER distribution_pruned AFTER UPDATE OF pruned_at_ms ON distribution
FOR EACH ROW WHEN (OLD.pruned_at_ms IS NULL AND NEW.pruned_at_ms IS NOT NULL
  AND OLD.reminder_id IS NULL)
EXECUTE FUNCTION distribution_let_go();

CREATE TRIGGER distribution_removed AFTER DELETE ON distribution
FOR EACH ROW WHEN (OLD.pruned_at_ms IS NULL AND OLD.reminder_id IS NULL)
EXECUTE FUNCTION distribution_let_go();

CREATE TRIGGER distribution_round_stays BEFORE UPDATE OF reminder_id, reminder_day ON distribution
FOR EACH ROW WHEN (NEW.reminder_id IS DISTINCT FROM OLD.reminder_id
  OR NEW.reminder_day IS DISTINCT FROM OLD.reminder_day)
EXECUTE FUNCTION gatepost_refuse('what was sent, to whom and by whom, never changes');
