-- Phones that send one HWID, and the rules for them.

CREATE TABLE `slot_phone` (
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`number` integer NOT NULL,
	`door` text NOT NULL,
	`family` text NOT NULL,
	`app` text NOT NULL,
	`model_hash` text NOT NULL,
	`state` text NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`own_device_id` integer,
	`told_at_ms` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`install_id`, `device_id`, `number`),
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`own_device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "slot_phone_state" CHECK("slot_phone"."state" IN ('first', 'pending', 'hint', 'certain', 'ignored'))
) WITHOUT ROWID;

CREATE INDEX `slot_phone_by_device` ON `slot_phone` (`device_id`);
CREATE INDEX `slot_phone_by_own_device` ON `slot_phone` (`own_device_id`) WHERE own_device_id IS NOT NULL;
CREATE INDEX `slot_phone_by_time` ON `slot_phone` (`last_seen_at_ms`);
CREATE INDEX `slot_phone_certain` ON `slot_phone` (`install_id`) WHERE state = 'certain';
ALTER TABLE `install` ADD `same_phone_hours` integer;
ALTER TABLE `install` ADD `copied_hwid` text;
ALTER TABLE `install` ADD `has_phones` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `same_phone_hours` integer;
ALTER TABLE `provider` ADD `copied_hwid` text;
ALTER TABLE `provider` ADD `copied_day` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `copied_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `install_device` ADD `doubt_until_ms` integer DEFAULT 0 NOT NULL;

-- A phone with a slot of its own is known by its HWID also when the slot of that HWID has ended.
CREATE TRIGGER slot_phone_left AFTER DELETE ON install_device BEGIN
  DELETE FROM slot_phone WHERE install_id = OLD.install_id AND device_id = OLD.device_id
    AND own_device_id IS NULL;
END;

-- Facts that change without phones may be those of another phone: core/copied-hwid.ts.
CREATE TRIGGER slot_phone_doubt AFTER UPDATE OF os, device_name ON device_provider
WHEN NEW.slot_count > 0 AND (NEW.os <> OLD.os OR NEW.device_name <> OLD.device_name) BEGIN
  UPDATE install_device SET doubt_until_ms = NEW.last_seen_at_ms + 2592000000
  WHERE device_id = NEW.device_id AND provider_id = NEW.provider_id AND NOT EXISTS (
    SELECT 1 FROM slot_phone f WHERE f.install_id = install_device.install_id
      AND f.device_id = install_device.device_id);
END;
