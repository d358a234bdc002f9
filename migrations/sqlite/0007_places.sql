-- A device at a provider is found by both, always: the row lies under its key, not behind it. A call
-- of a known HWID reads a page less so, and a new one writes an index less.

-- Else the triggers of other tables would be read while the table that they name is away.
PRAGMA legacy_alter_table = ON;

CREATE TABLE `__new_device_provider` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`slot_count` integer DEFAULT 0 NOT NULL,
	`tie_count` integer DEFAULT 0 NOT NULL,
	`token_id` integer,
	`is_by_link` integer DEFAULT 0 NOT NULL,
	`after_recipient_id` integer DEFAULT 0 NOT NULL,
	`after_slot_id` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`token_id`) REFERENCES `device_token`(`id`) ON UPDATE no action ON DELETE set null
) WITHOUT ROWID;

INSERT INTO `__new_device_provider`
SELECT device_id, provider_id, os, os_version, device_name, app_version, user_agent,
  last_seen_at_ms, slot_count, tie_count, token_id, is_by_link, after_recipient_id, after_slot_id
FROM device_provider ORDER BY device_id, provider_id;
DROP TABLE `device_provider`;
ALTER TABLE `__new_device_provider` RENAME TO `device_provider`;

PRAGMA legacy_alter_table = OFF;

CREATE INDEX `device_provider_by_os` ON `device_provider` (`provider_id`,`os`,`device_id`);
CREATE INDEX `device_provider_by_token` ON `device_provider` (`token_id`) WHERE token_id IS NOT NULL;
CREATE INDEX `device_provider_idle` ON `device_provider` (`last_seen_at_ms`) WHERE slot_count = 0 AND tie_count = 0;

-- As in 0004 and 0005: they went with the table.

CREATE TRIGGER device_provider_place_lost AFTER UPDATE OF token_id ON device_provider
WHEN OLD.token_id IS NOT NULL AND OLD.token_id IS NOT NEW.token_id BEGIN
  DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
    AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
END;

CREATE TRIGGER device_provider_removed AFTER DELETE ON device_provider
WHEN OLD.token_id IS NOT NULL BEGIN
  DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
    AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
END;

CREATE TRIGGER device_provider_held AFTER INSERT ON device_provider
WHEN NEW.slot_count + NEW.tie_count > 0 BEGIN
  UPDATE device SET holder_count = holder_count + 1 WHERE id = NEW.device_id;
END;

CREATE TRIGGER device_provider_changed AFTER UPDATE OF slot_count, tie_count ON device_provider
WHEN (OLD.slot_count + OLD.tie_count = 0) <> (NEW.slot_count + NEW.tie_count = 0) BEGIN
  UPDATE device SET holder_count = holder_count + iif(NEW.slot_count + NEW.tie_count = 0, -1, 1)
  WHERE id = NEW.device_id;
END;

CREATE TRIGGER device_provider_left AFTER DELETE ON device_provider
WHEN OLD.slot_count + OLD.tie_count > 0 BEGIN
  UPDATE device SET holder_count = holder_count - 1 WHERE id = OLD.device_id;
END;
