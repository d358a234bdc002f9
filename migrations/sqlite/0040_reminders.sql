CREATE TABLE `reminder` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`texts` text NOT NULL,
	`former_texts` text,
	`texts_at_ms` integer DEFAULT 0 NOT NULL,
	`push_text` text NOT NULL,
	`enabled` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reminder_kind" CHECK("reminder"."kind" IN ('before_end', 'after_end', 'traffic', 'inactive')),
	CONSTRAINT "reminder_amount" CHECK("reminder"."amount" BETWEEN 0 AND 720),
	CONSTRAINT "reminder_push_text" CHECK("reminder"."push_text" IN ('neutral', 'full')),
	CONSTRAINT "reminder_enabled" CHECK("reminder"."enabled" IN (0, 1))
);

CREATE UNIQUE INDEX `reminder_once` ON `reminder` (`provider_id`,`kind`,`amount`);
ALTER TABLE `install` ADD `former_buttons` text;
ALTER TABLE `install` ADD `buttons_at_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `former_buttons` text;
ALTER TABLE `provider` ADD `buttons_at_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `quiet_from` text;
ALTER TABLE `provider` ADD `quiet_to` text;
ALTER TABLE `provider` ADD `time_zone` text;
ALTER TABLE `provider` ADD `confirmed_at_ms` integer DEFAULT 0 NOT NULL;