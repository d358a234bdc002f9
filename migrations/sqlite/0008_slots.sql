-- Slots live: when each was last seen, what becomes of those that were not, how each ended. A link
-- may have a subscription key beside its code. Figures by day, and refusals by link.

CREATE TABLE `install_refusal` (
	`install_id` integer PRIMARY KEY NOT NULL,
	`refused_count` integer NOT NULL,
	`refused_at_ms` integer NOT NULL,
	`reason` text NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE TABLE `provider_day` (
	`provider_id` integer NOT NULL,
	`day` integer NOT NULL,
	`admitted` integer DEFAULT 0 NOT NULL,
	`seen` integer DEFAULT 0 NOT NULL,
	`refused_hwid` integer DEFAULT 0 NOT NULL,
	`refused_domain` integer DEFAULT 0 NOT NULL,
	`refused_disabled` integer DEFAULT 0 NOT NULL,
	`refused_full` integer DEFAULT 0 NOT NULL,
	`freed` integer DEFAULT 0 NOT NULL,
	`links` integer DEFAULT 0 NOT NULL,
	`sends` integer DEFAULT 0 NOT NULL,
	`recipients` integer DEFAULT 0 NOT NULL,
	`delivered` integer DEFAULT 0 NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`opened` integer DEFAULT 0 NOT NULL,
	`executed` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`expired` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`provider_id`, `day`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;

CREATE INDEX `provider_day_by_day` ON `provider_day` (`day`);
CREATE TABLE `slot_end` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`device_id` integer,
	`registered_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`ended_at_ms` integer NOT NULL,
	`why` text NOT NULL,
	`actor` text NOT NULL,
	`for_device_id` integer,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`for_device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "slot_end_why" CHECK("slot_end"."why" IN ('deleted', 'inactive', 'replaced', 'forgotten'))
);

CREATE INDEX `slot_end_by_install` ON `slot_end` (`install_id`,`id`);
CREATE INDEX `slot_end_by_provider` ON `slot_end` (`provider_id`,`id`);
CREATE INDEX `slot_end_by_device` ON `slot_end` (`device_id`) WHERE device_id IS NOT NULL;
CREATE INDEX `slot_end_by_newcomer` ON `slot_end` (`for_device_id`) WHERE for_device_id IS NOT NULL;
ALTER TABLE `install` ADD `subscription_key_hash` blob;
ALTER TABLE `install` ADD `inactive_days` integer;
ALTER TABLE `install` ADD `when_full` text;
ALTER TABLE `install` ADD `cool_down_hours` integer;
ALTER TABLE `install` ADD `replaced_at_ms` integer;
CREATE UNIQUE INDEX `install_by_subscription_key` ON `install` (`subscription_key_hash`,`provider_id`) WHERE subscription_key_hash IS NOT NULL;
ALTER TABLE `provider` ADD `inactive_days` integer;
ALTER TABLE `provider` ADD `when_full` text;
ALTER TABLE `provider` ADD `cool_down_hours` integer;
ALTER TABLE `provider` ADD `slot_end_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `device_provider` ADD `checked_in_at_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `install_device` ADD `last_seen_at_ms` integer DEFAULT 0 NOT NULL;

-- Until now a provider alone saw a device, whichever link it named.
UPDATE install_device SET last_seen_at_ms = max(registered_at_ms, coalesce(
  (SELECT p.last_seen_at_ms FROM device_provider p
   WHERE p.device_id = install_device.device_id
     AND p.provider_id = install_device.provider_id), 0));

CREATE TRIGGER slot_end_added AFTER INSERT ON slot_end BEGIN
  UPDATE provider SET slot_end_count = slot_end_count + 1 WHERE id = NEW.provider_id;
END;

CREATE TRIGGER slot_end_removed AFTER DELETE ON slot_end BEGIN
  UPDATE provider SET slot_end_count = slot_end_count - 1 WHERE id = OLD.provider_id;
END;

CREATE TRIGGER slot_end_stays BEFORE UPDATE OF install_id, provider_id ON slot_end BEGIN
  SELECT RAISE(ABORT, 'the end of a slot stays with its link');
END;
