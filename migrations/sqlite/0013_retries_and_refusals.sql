-- Links that only count, calls without a HWID, devices that were refused, links that were removed, and
-- calls that may be repeated.

CREATE TABLE `idempotent_call` (
	`provider_id` integer NOT NULL,
	`idempotency_key` text NOT NULL,
	`call` text NOT NULL,
	`params_hash` blob NOT NULL,
	`answer` text NOT NULL,
	`answered_at_ms` integer NOT NULL,
	PRIMARY KEY(`provider_id`, `idempotency_key`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;

CREATE INDEX `idempotent_call_by_time` ON `idempotent_call` (`answered_at_ms`);
CREATE TABLE `install_tombstone` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_code` text NOT NULL,
	`subscription_key_hash` blob,
	`ended_at_ms` integer NOT NULL,
	`why` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_tombstone_why" CHECK("install_tombstone"."why" IN ('removed', 'revoked'))
);

CREATE UNIQUE INDEX `install_tombstone_install_code_unique` ON `install_tombstone` (`install_code`);
CREATE INDEX `install_tombstone_by_provider` ON `install_tombstone` (`provider_id`,`id`);
CREATE INDEX `install_tombstone_by_key` ON `install_tombstone` (`subscription_key_hash`,`provider_id`) WHERE subscription_key_hash IS NOT NULL;
CREATE TABLE `refused_device` (
	`install_id` integer NOT NULL,
	`hwid` text NOT NULL,
	`device_name` text NOT NULL,
	`os` text NOT NULL,
	`reason` text NOT NULL,
	`refused_count` integer NOT NULL,
	`first_refused_at_ms` integer NOT NULL,
	`last_refused_at_ms` integer NOT NULL,
	PRIMARY KEY(`install_id`, `hwid`),
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;

CREATE INDEX `refused_device_by_time` ON `refused_device` (`last_refused_at_ms`);
CREATE INDEX `refused_device_by_hwid` ON `refused_device` (`hwid`);

-- The check of the limit changes, so the table is rebuilt. The triggers that name it follow.
DROP TRIGGER install_device_added;
DROP TRIGGER install_device_removed;
CREATE TABLE `__new_install` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_code` text NOT NULL,
	`install_limit` integer NOT NULL,
	`device_count` integer DEFAULT 0 NOT NULL,
	`status` integer NOT NULL,
	`note` text,
	`created_at_ms` integer NOT NULL,
	`subscription_key_hash` blob,
	`inactive_days` integer,
	`when_full` text,
	`cool_down_hours` integer,
	`replaced_at_ms` integer,
	`enforce` integer,
	`without_hwid` text,
	`over_max` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_limit_range" CHECK("__new_install"."install_limit" BETWEEN 1 AND 100),
	CONSTRAINT "install_never_over_full" CHECK("__new_install"."device_count" >= 0 AND ("__new_install"."device_count" <= "__new_install"."install_limit" OR "__new_install"."device_count" <= "__new_install"."over_max")),
	CONSTRAINT "install_over_max" CHECK("__new_install"."over_max" BETWEEN 0 AND 100),
	CONSTRAINT "install_status" CHECK("__new_install"."status" IN (5, 10))
);

-- No id is given twice.
INSERT INTO sqlite_sequence (name, seq)
SELECT '__new_install', seq FROM sqlite_sequence WHERE name = 'install';
INSERT INTO `__new_install` (id, provider_id, install_code, install_limit, device_count, status,
  note, created_at_ms, subscription_key_hash, inactive_days, when_full, cool_down_hours,
  replaced_at_ms)
SELECT id, provider_id, install_code, install_limit, device_count, status, note, created_at_ms,
  subscription_key_hash, inactive_days, when_full, cool_down_hours, replaced_at_ms
FROM `install` ORDER BY id;
DROP TABLE `install`;
ALTER TABLE `__new_install` RENAME TO `install`;
CREATE UNIQUE INDEX `install_install_code_unique` ON `install` (`install_code`);
CREATE INDEX `install_by_provider` ON `install` (`provider_id`);
CREATE UNIQUE INDEX `install_by_subscription_key` ON `install` (`subscription_key_hash`,`provider_id`) WHERE subscription_key_hash IS NOT NULL;
ALTER TABLE `provider` ADD `enforce` integer;
ALTER TABLE `provider` ADD `without_hwid` text;
ALTER TABLE `provider` ADD `tombstone_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `idempotent_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider_day` ADD `admitted_over` integer DEFAULT 0 NOT NULL;
-- As in 0001 and 0004.
CREATE TRIGGER install_added AFTER INSERT ON install BEGIN
  UPDATE provider SET install_count = install_count + 1 WHERE id = NEW.provider_id;
END;

CREATE TRIGGER install_removed AFTER DELETE ON install BEGIN
  UPDATE provider SET install_count = install_count - 1 WHERE id = OLD.provider_id;
END;

CREATE TRIGGER install_stays BEFORE UPDATE OF provider_id ON install BEGIN
  SELECT RAISE(ABORT, 'a link never moves to another provider');
END;

CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, slot_count)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.registered_at_ms, 1)
  ON CONFLICT DO UPDATE SET slot_count = slot_count + 1;
END;

-- A link may hold no more devices above its limit than are left of them.
CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1, over_max = min(over_max, device_count - 1)
  WHERE id = OLD.install_id;
  UPDATE device_provider SET slot_count = slot_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
END;

CREATE TRIGGER install_tombstone_added AFTER INSERT ON install_tombstone BEGIN
  UPDATE provider SET tombstone_count = tombstone_count + 1 WHERE id = NEW.provider_id;
END;

CREATE TRIGGER install_tombstone_removed AFTER DELETE ON install_tombstone BEGIN
  UPDATE provider SET tombstone_count = tombstone_count - 1 WHERE id = OLD.provider_id;
END;

CREATE TRIGGER idempotent_call_added AFTER INSERT ON idempotent_call BEGIN
  UPDATE provider SET idempotent_count = idempotent_count + 1 WHERE id = NEW.provider_id;
END;

CREATE TRIGGER idempotent_call_removed AFTER DELETE ON idempotent_call BEGIN
  UPDATE provider SET idempotent_count = idempotent_count - 1 WHERE id = OLD.provider_id;
END;
