-- Ties of keys to links: what waits, what was tied, and what a tie ended.

CREATE TABLE `link_tie` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_id` integer NOT NULL,
	`subscription_key_hash` blob NOT NULL,
	`state` text NOT NULL,
	`at_ms` integer NOT NULL,
	`former` text,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "link_tie_state" CHECK("link_tie"."state" IN ('waits', 'tied', 'undone'))
);

CREATE INDEX `link_tie_by_provider` ON `link_tie` (`provider_id`,`state`,`at_ms`);
CREATE INDEX `link_tie_by_install` ON `link_tie` (`install_id`);
CREATE INDEX `link_tie_by_time` ON `link_tie` (`at_ms`);
CREATE UNIQUE INDEX `link_tie_once` ON `link_tie` (`provider_id`,`subscription_key_hash`,`install_id`);
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
	CONSTRAINT "provider_key_scope" CHECK(scope IN ('read', 'links', 'send', 'ties'))
);

-- No id is given twice.
INSERT INTO sqlite_sequence (name, seq)
SELECT '__new_provider_key', seq FROM sqlite_sequence WHERE name = 'provider_key';
INSERT INTO `__new_provider_key`("id", "provider_id", "key_hash", "name", "scope", "created_at_ms", "until_ms") SELECT "id", "provider_id", "key_hash", "name", "scope", "created_at_ms", "until_ms" FROM `provider_key`;
DELETE FROM sqlite_sequence WHERE name = '__new_provider_key' AND seq = 0;
DROP TABLE `provider_key`;
ALTER TABLE `__new_provider_key` RENAME TO `provider_key`;
CREATE UNIQUE INDEX `provider_key_by_hash` ON `provider_key` (`provider_id`,`key_hash`);
ALTER TABLE `install` ADD `of_gate` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `ties` integer DEFAULT 1 NOT NULL;

-- The slot of the first device is as old as a link that the proxy made.
UPDATE install SET of_gate = 1
WHERE subscription_key_hash IS NOT NULL AND panel_facts IS NULL AND (
  EXISTS (SELECT 1 FROM install_device s
    WHERE s.install_id = install.id AND s.registered_at_ms = install.created_at_ms)
  OR EXISTS (SELECT 1 FROM slot_end e
    WHERE e.install_id = install.id AND e.registered_at_ms = install.created_at_ms));

-- Where links have keys, nothing is tied until the provider switches it on.
UPDATE provider SET ties = 0
WHERE EXISTS (SELECT 1 FROM install WHERE subscription_key_hash IS NOT NULL);
