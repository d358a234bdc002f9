-- HWIDs that a provider named for a link before they come, and links for named HWIDs alone.

CREATE TABLE `named_hwid` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`hwid` text NOT NULL,
	`named_at_ms` integer NOT NULL,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE UNIQUE INDEX `named_hwid_once` ON `named_hwid` (`install_id`,`hwid`);
CREATE INDEX `named_hwid_by_provider` ON `named_hwid` (`provider_id`);
CREATE INDEX `named_hwid_by_hwid` ON `named_hwid` (`hwid`);
ALTER TABLE `install` ADD `when_new` text;
ALTER TABLE `provider` ADD `when_new` text;
-- Named HWIDs count as the slots do, and none is over the limit.
CREATE TRIGGER named_hwid_added AFTER INSERT ON named_hwid BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
END;

CREATE TRIGGER named_hwid_removed AFTER DELETE ON named_hwid BEGIN
  UPDATE install SET device_count = device_count - 1, over_max = min(over_max, device_count - 1)
  WHERE id = OLD.install_id;
END;

CREATE TRIGGER named_hwid_stays BEFORE UPDATE OF install_id, provider_id, hwid ON named_hwid BEGIN
  SELECT RAISE(ABORT, 'a named HWID stays on its link');
END;
