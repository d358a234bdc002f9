ALTER TABLE `distribution` ADD `segment` text;
ALTER TABLE `distribution` ADD `cursor_os` text;
ALTER TABLE `distribution` ADD `ride_ended_at_ms` integer;

CREATE TRIGGER distribution_segment_stays BEFORE UPDATE OF segment ON distribution
WHEN NEW.segment IS NOT OLD.segment AND NEW.pruned_at_ms IS NULL BEGIN
  SELECT RAISE(ABORT, 'what was sent, to whom and by whom, never changes');
END;
