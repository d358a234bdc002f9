CREATE TABLE `reminder_sent` (
	`reminder_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`period` integer NOT NULL,
	`install_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`distribution_id` integer,
	`sent_at_ms` integer NOT NULL,
	`ended_at_ms` integer,
	PRIMARY KEY(`reminder_id`, `device_id`, `period`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `reminder_sent_by_device` ON `reminder_sent` (`device_id`,`sent_at_ms`);
CREATE INDEX `reminder_sent_by_install` ON `reminder_sent` (`install_id`);
CREATE INDEX `reminder_sent_by_time` ON `reminder_sent` (`sent_at_ms`);
CREATE INDEX `reminder_sent_open` ON `reminder_sent` (`provider_id`,`install_id`) WHERE ended_at_ms IS NULL;
CREATE TABLE `reminding` (
	`provider_id` integer PRIMARY KEY NOT NULL,
	`lease_owner` text,
	`lease_until_ms` integer DEFAULT 0 NOT NULL,
	`stopped_at_ms` integer,
	`stopped_moved` integer,
	`stopped_links` integer,
	`resumed_at_ms` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

ALTER TABLE `distribution` ADD `reminder_id` integer;
ALTER TABLE `distribution` ADD `reminder_day` integer;
CREATE UNIQUE INDEX `distribution_round` ON `distribution` (`reminder_id`,`reminder_day`) WHERE reminder_id IS NOT NULL;
CREATE INDEX `distribution_rounds` ON `distribution` (`provider_id`,`id`) WHERE reminder_id IS NOT NULL;
ALTER TABLE `subscription_figures` ADD `period_at_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `subscription_figures` ADD `traffic_at_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `subscription_figures` ADD `moved_at_ms` integer;
ALTER TABLE `subscription_figures` ADD `renewal_told_at_ms` integer;
ALTER TABLE `subscription_figures` ADD `told_hours` integer;
ALTER TABLE `subscription_figures` ADD `told_percent` integer;
CREATE INDEX `subscription_figures_by_provider` ON `subscription_figures` (`provider_id`,`install_id`);
CREATE INDEX `subscription_figures_moved` ON `subscription_figures` (`provider_id`,`moved_at_ms`) WHERE moved_at_ms IS NOT NULL;
-- What reminders sent counts in no bound of what a provider sends and keeps.
DROP TRIGGER distribution_added;
DROP TRIGGER distribution_loaded;
DROP TRIGGER distribution_pruned;
DROP TRIGGER distribution_removed;

CREATE TRIGGER distribution_added AFTER INSERT ON distribution WHEN NEW.reminder_id IS NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes + octet_length(NEW.payload) + octet_length(NEW.target_hwid) + 200
  WHERE id = NEW.provider_id;
END;

CREATE TRIGGER distribution_loaded AFTER UPDATE OF recipient_count ON distribution
WHEN NEW.recipient_count <> OLD.recipient_count AND NEW.reminder_id IS NULL BEGIN
  UPDATE provider SET ledger_count = ledger_count + NEW.recipient_count - OLD.recipient_count
  WHERE id = NEW.provider_id;
END;

CREATE TRIGGER distribution_pruned AFTER UPDATE OF pruned_at_ms ON distribution
WHEN OLD.pruned_at_ms IS NULL AND NEW.pruned_at_ms IS NOT NULL AND OLD.reminder_id IS NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
END;

CREATE TRIGGER distribution_removed AFTER DELETE ON distribution
WHEN OLD.pruned_at_ms IS NULL AND OLD.reminder_id IS NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
END;

CREATE TRIGGER distribution_round_stays BEFORE UPDATE OF reminder_id, reminder_day ON distribution
WHEN NEW.reminder_id IS NOT OLD.reminder_id OR NEW.reminder_day IS NOT OLD.reminder_day BEGIN
  SELECT RAISE(ABORT, 'what was sent, to whom and by whom, never changes');
END;
