-- Unscheduled sends go in the order of their ids, which no node's clock has a part in.

DROP INDEX distribution_unscheduled;
CREATE INDEX distribution_unscheduled ON distribution (provider_id, id)
  WHERE status < 100 AND handed_over_at_ms IS NULL AND due_at_ms = created_at_ms;
