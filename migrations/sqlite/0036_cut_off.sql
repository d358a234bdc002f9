-- Cut-offs: HWIDs that are barred, credentials that change, devices that fetch again, proofs of keys.

CREATE TABLE `cut_off` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_id` integer NOT NULL,
	`host` text NOT NULL,
	`subscription_key_hash` blob,
	`hwid_hash` blob,
	`state` text NOT NULL,
	`why` text,
	`is_by_user` integer DEFAULT 0 NOT NULL,
	`asked_at_ms` integer NOT NULL,
	`begun_at_ms` integer,
	`ended_at_ms` integer,
	`next_at_ms` integer NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`seen` text,
	`device_count` integer DEFAULT 0 NOT NULL,
	`fetch_until_ms` integer,
	`lease` text,
	`lease_until_ms` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "cut_off_state" CHECK("cut_off"."state" IN ('waiting', 'done', 'impossible', 'differs', 'cancelled', 'ended', 'changed'))
);

CREATE INDEX `cut_off_by_provider` ON `cut_off` (`provider_id`,`id`);
CREATE INDEX `cut_off_by_install` ON `cut_off` (`install_id`,`id`);
CREATE INDEX `cut_off_by_hwid` ON `cut_off` (`hwid_hash`) WHERE hwid_hash IS NOT NULL;
CREATE INDEX `cut_off_begun` ON `cut_off` (`provider_id`,`begun_at_ms`) WHERE begun_at_ms IS NOT NULL;
CREATE INDEX `cut_off_due` ON `cut_off` (`next_at_ms`) WHERE state = 'waiting';
CREATE TABLE `cut_stop` (
	`host` text PRIMARY KEY NOT NULL,
	`fields` text NOT NULL,
	`stopped_at_ms` integer NOT NULL
);

CREATE TABLE `cut_wait` (
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`until_ms` integer NOT NULL,
	PRIMARY KEY(`install_id`, `device_id`),
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `cut_wait_by_device` ON `cut_wait` (`device_id`);
CREATE INDEX `cut_wait_by_time` ON `cut_wait` (`until_ms`);
CREATE TABLE `key_proof` (
	`install_id` integer NOT NULL,
	`host` text NOT NULL,
	`subscription_key_hash` blob NOT NULL,
	`proved_at_ms` integer NOT NULL,
	PRIMARY KEY(`install_id`, `host`),
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE TABLE `slot_bar` (
	`install_id` integer NOT NULL,
	`hwid_hash` blob NOT NULL,
	`made_at_ms` integer NOT NULL,
	`until_ms` integer NOT NULL,
	PRIMARY KEY(`install_id`, `hwid_hash`),
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `slot_bar_by_time` ON `slot_bar` (`until_ms`);
CREATE INDEX `slot_bar_by_hwid` ON `slot_bar` (`hwid_hash`);
CREATE TABLE `__new_provider_key` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`key_hash` blob NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`until_ms` integer,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "provider_key_hash_length" CHECK(length(key_hash) = 32),
	CONSTRAINT "provider_key_scope" CHECK(scope IN ('read', 'links', 'send', 'ties', 'cuts'))
);

-- No id is given twice.
INSERT INTO sqlite_sequence (name, seq)
SELECT '__new_provider_key', seq FROM sqlite_sequence WHERE name = 'provider_key';
INSERT INTO `__new_provider_key`("id", "provider_id", "key_hash", "name", "scope", "created_at_ms", "until_ms") SELECT "id", "provider_id", "key_hash", "name", "scope", "created_at_ms", "until_ms" FROM `provider_key`;
DELETE FROM sqlite_sequence WHERE name = '__new_provider_key' AND seq = 0;
DROP TABLE `provider_key`;
ALTER TABLE `__new_provider_key` RENAME TO `provider_key`;
CREATE UNIQUE INDEX `provider_key_by_hash` ON `provider_key` (`provider_id`,`key_hash`);
ALTER TABLE `install` ADD `has_bars` integer DEFAULT 0 NOT NULL;
ALTER TABLE `install` ADD `awaits_fetch` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `my_cut_off` integer DEFAULT 0 NOT NULL;
