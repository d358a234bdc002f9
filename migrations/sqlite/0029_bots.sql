CREATE TABLE `bot` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`host` text NOT NULL,
	`name` text NOT NULL,
	`secret_hash` blob NOT NULL,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "bot_secret_hash_length" CHECK(length("bot"."secret_hash") = 32)
);

CREATE INDEX `bot_by_provider` ON `bot` (`provider_id`);
CREATE INDEX `bot_by_host` ON `bot` (`host`);
CREATE TABLE `bot_fetch` (
	`bot_id` integer NOT NULL,
	`key_hash` blob NOT NULL,
	`day` integer NOT NULL,
	`fetch_count` integer NOT NULL,
	PRIMARY KEY(`bot_id`, `key_hash`),
	FOREIGN KEY (`bot_id`) REFERENCES `bot`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `bot_fetch_by_day` ON `bot_fetch` (`day`);
ALTER TABLE `provider` ADD `rc2_body` text;
ALTER TABLE `provider` ADD `short_codes` integer DEFAULT 0 NOT NULL;