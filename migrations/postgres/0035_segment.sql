-- Messages to what a search finds when they are delivered: SQLite's migration 0043.

ALTER TABLE distribution ADD COLUMN segment text COLLATE "C";
ALTER TABLE distribution ADD COLUMN cursor_os text COLLATE "C";
ALTER TABLE distribution ADD COLUMN ride_ended_at_ms bigint;

CREATE TRIGGER distribution_segment_stays BEFORE UPDATE OF segment ON distribution
FOR EACH ROW WHEN (NEW.segment IS DISTINCT FROM OLD.segment AND NEW.pruned_at_ms IS NULL)
EXECUTE FUNCTION gatepost_refuse('what was sent, to whom and by whom, never changes');
