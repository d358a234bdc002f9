CREATE TABLE `ride` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`device_id` integer,
	`os` text NOT NULL,
	`part` text NOT NULL,
	`distribution_id` integer NOT NULL,
	`from_ms` integer NOT NULL,
	`until_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`distribution_id`) REFERENCES `distribution`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "ride_ends" CHECK("ride"."until_ms" >= "ride"."from_ms")
);

CREATE UNIQUE INDEX `ride_of_all` ON `ride` (`provider_id`,`os`,`part`) WHERE device_id IS NULL;
CREATE UNIQUE INDEX `ride_of_device` ON `ride` (`device_id`,`provider_id`,`part`) WHERE device_id IS NOT NULL;
CREATE INDEX `ride_by_distribution` ON `ride` (`distribution_id`);
CREATE INDEX `ride_by_end` ON `ride` (`until_ms`);
ALTER TABLE `domain` ADD `ride_version` integer DEFAULT 0 NOT NULL;
ALTER TABLE `domain` ADD `ride_until_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `install` ADD `support_url` text;
ALTER TABLE `install` ADD `web_page_url` text;
ALTER TABLE `provider` ADD `ride` text;
ALTER TABLE `provider` ADD `ride_desktop` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `support_url` text;
ALTER TABLE `provider` ADD `web_page_url` text;
ALTER TABLE `provider` ADD `buttons` text;
ALTER TABLE `provider` ADD `ride_version` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `ride_until_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `device_provider` ADD `ride_until_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `device_provider` ADD `home_install_id` integer;
ALTER TABLE `device_provider` ADD `home_left_at_ms` integer;
ALTER TABLE `device_provider` ADD `home_moved_at_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `distribution` ADD `replaces_id` integer;
ALTER TABLE `provider_day` ADD `carried` integer DEFAULT 0 NOT NULL;
ALTER TABLE `recipient` ADD `carried_at_ms` integer;
ALTER TABLE `recipient` ADD `carried` text;
-- The link that claimed a place, else that of the first slot, is the home link.
UPDATE device_provider SET home_install_id = CASE WHEN token_id IS NOT NULL
  AND claim_install_id IS NOT NULL THEN claim_install_id ELSE (
    SELECT s.install_id FROM install_device s
    WHERE s.device_id = device_provider.device_id AND s.provider_id = device_provider.provider_id
    ORDER BY s.registered_at_ms, s.id LIMIT 1) END
WHERE slot_count > 0 OR claim_install_id IS NOT NULL;
UPDATE device_provider SET home_left_at_ms = last_seen_at_ms
WHERE home_install_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM install_device s
  WHERE s.install_id = device_provider.home_install_id
    AND s.device_id = device_provider.device_id);
DROP TRIGGER install_device_added;
DROP TRIGGER install_device_removed;
-- As in 0013; the first link becomes the home link.
CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, slot_count, home_install_id)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.registered_at_ms, 1,
    NEW.install_id)
  ON CONFLICT DO UPDATE SET slot_count = slot_count + 1,
    home_install_id = coalesce(home_install_id, NEW.install_id),
    home_left_at_ms = CASE WHEN coalesce(home_install_id, NEW.install_id) = NEW.install_id
      THEN NULL ELSE home_left_at_ms END;
END;

-- As in 0013; a home slot that ended leaves when it was last seen.
CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1, over_max = min(over_max, device_count - 1)
  WHERE id = OLD.install_id;
  UPDATE device_provider SET slot_count = slot_count - 1,
    home_left_at_ms = CASE WHEN home_install_id = OLD.install_id
      THEN OLD.last_seen_at_ms ELSE home_left_at_ms END
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
END;

-- Doors read bindings, and not providers.
CREATE TRIGGER provider_rides AFTER UPDATE OF ride_version, ride_until_ms ON provider BEGIN
  UPDATE domain SET ride_version = NEW.ride_version, ride_until_ms = NEW.ride_until_ms
  WHERE provider_id = NEW.id;
END;

CREATE TRIGGER domain_rides AFTER INSERT ON domain BEGIN
  UPDATE domain SET (ride_version, ride_until_ms) =
    (SELECT p.ride_version, p.ride_until_ms FROM provider p WHERE p.id = NEW.provider_id)
  WHERE id = NEW.id;
END;
