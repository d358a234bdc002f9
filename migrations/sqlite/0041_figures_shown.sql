-- Keys for figures, the traffic on the page of users, and since when figures are kept.

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
	CONSTRAINT "provider_key_scope" CHECK(scope IN ('read', 'links', 'send', 'ties', 'cuts', 'figures'))
);

-- No id is given twice.
INSERT INTO sqlite_sequence (name, seq)
SELECT '__new_provider_key', seq FROM sqlite_sequence WHERE name = 'provider_key';
INSERT INTO `__new_provider_key`("id", "provider_id", "key_hash", "name", "scope", "created_at_ms", "until_ms") SELECT "id", "provider_id", "key_hash", "name", "scope", "created_at_ms", "until_ms" FROM `provider_key`;
DELETE FROM sqlite_sequence WHERE name = '__new_provider_key' AND seq = 0;
DROP TABLE `provider_key`;
ALTER TABLE `__new_provider_key` RENAME TO `provider_key`;
CREATE UNIQUE INDEX `provider_key_by_hash` ON `provider_key` (`provider_id`,`key_hash`);
ALTER TABLE `provider` ADD `my_traffic` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `figures_since_ms` integer;
UPDATE `provider` SET `figures_since_ms` = 0 WHERE `subscription_figures` = 1;
